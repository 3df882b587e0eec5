import AtriumKit
import Testing

@testable import Host

/// What a query may ask for, on every way in.
struct QueryLimitTests {
    private enum Way: CaseIterable {
        case list
        case filters
        case open
        case keep
    }

    private struct Asked {
        var selection = Selection()
        var search = ""
    }

    @Test(arguments: [
        ("searchBytes", 64), ("filterBytes", 64), ("selectedFilters", 4), ("selectionBytes", 150),
    ])
    func `what a query asks for is bounded on every way in`(limit: String, value: Int) async throws
    {
        var limits = HostLimits()
        (limits.searchBytes, limits.filterBytes) = (64, 64)
        (limits.selectedFilters, limits.selectionBytes) = (4, 150)
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.searchable)
        try await host.put(.film("heat"))
        for way in Way.allCases {
            #expect(try await ask(asked(of: limit, beyond: false), by: way, host) == nil)
            let error = try await ask(asked(of: limit, beyond: true), by: way, host)
            #expect(
                error == .limitExceeded(limit: limit, value: value, retryAfter: nil), "\(way)")
        }
        try await host.end()
    }

    @Test func `a filter that is too long never reaches the component`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.searchable)
        try await host.put(.film("heat"))
        let client = try await ScreenClient(host)
        let id = client.id
        let text = String(repeating: "x", count: 4_097)
        let error = HostError.limitExceeded(limit: "filterBytes", value: 4_096, retryAfter: nil)
        for (section, filter) in [("title", text), (text, "x")] {
            await expect(error) {
                try await host.call {
                    $0.select(id, section: section, filter: filter, by: .ann, $1)
                }
            }
            await expect(error) {
                try await host.call {
                    $0.deselect(id, section: section, filter: filter, by: .ann, $1)
                }
            }
        }
        let whole = String(text.dropLast())
        _ = try await host.call {
            $0.select(id, section: "title", filter: whole, by: .ann, $1)
        }
        try await host.end()
    }

    /// What is just within a limit, or just beyond it.
    private func asked(of limit: String, beyond: Bool) -> Asked {
        let more = beyond ? 1 : 0
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        return switch limit {
        case "searchBytes": Asked(search: text(64 + more))
        case "filterBytes": Asked(selection: Selection(["title": [text(64 + more)]]))
        case "selectedFilters":
            Asked(selection: Selection(["title": (0..<4 + more).map { text($0 + 1) }]))
        default:
            Asked(
                selection: Selection(["title": [text(60), text(61), text(150 - 5 - 121 + more)]]))
        }
    }

    /// Asks, and gives what is refused.
    private func ask(
        _ asked: Asked, by way: Way, _ host: TestRegistry
    ) async throws -> HostError? {
        do {
            switch way {
            case .list: _ = try await host.list("films", asked.selection, search: asked.search)
            case .filters:
                _ = try await host.call {
                    $0.filters(
                        "films", component: nil, selection: asked.selection, search: asked.search,
                        $1)
                }
            case .open:
                let client = try await ScreenClient(
                    host,
                    ScreenRequest(
                        container: "films", selection: asked.selection, search: asked.search))
                try await client.catchUp()
            case .keep: return try await keep(asked, host)
            }
            return nil
        } catch let error as HostError {
            return error
        }
    }

    /// Hands a screen over, as another process would; what it is refused for is what opening it says.
    private func keep(_ asked: Asked, _ host: TestRegistry) async throws -> HostError? {
        var kept = KeptScreen(
            id: ScreenID("kept-\(asked.selection.sections.count)-\(asked.search.utf8.count)"),
            container: "films", owner: Caller.ann.actor, actor: nil, agent: Caller.ann.actor)
        (kept.selection, kept.search) = (asked.selection, asked.search)
        let screen = kept
        let before = await host.on { $0.status(hasDetails: true).screens }
        let screens = try await host.call { (registry, reply: @escaping Reply<Int>) in
            registry.keptScreens.restore([screen], digest: { _ in 0 }) { reply(.success($0)) }
        }
        guard screens == before else { return nil }
        return try await ask(asked, by: .open, host)
    }
}

extension ContainerDefinition {
    /// The film club, with a filter for a text in titles.
    fileprivate static var searchable: ContainerDefinition {
        films.changed {
            $0.components[0].settings = [
                "sections": [["id": "title", "field": "title", "input": "text"]]
            ]
        }
    }
}
