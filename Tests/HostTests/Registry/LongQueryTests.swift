import AtriumKit
import Synchronization
import Testing

@testable import Host

/// Queries that look at more than fits into one turn of the loop.
struct LongQueryTests {
    /// A filter for a text in a title, a thousand times; one of them finds something.
    private static let selection = Selection([
        "title": (0..<999).map { "text \($0)" } + ["number 77 "]
    ])
    /// As many as are counted.
    private static let counted = Selection([
        "title": (0..<99).map { "text \($0)" } + ["number 77 "]
    ])

    @Test func `others are served while a query with a thousand texts is prepared`() async throws {
        let host = try await big()
        let before = await host.on { $0.domainSteps }
        let order = Mutex<[String]>([])
        let pages = try await host.callAll(3) { (registry, index, reply: @escaping Reply<Int>) in
            switch index {
            case 0:
                registry.list(ListRequest(container: "films", selection: Self.selection)) {
                    order.withLock { $0.append("list") }
                    reply($0.map(\.total))
                }
            case 1:
                registry.filters(
                    "films", component: nil, selection: Self.counted, search: nil
                ) {
                    order.withLock { $0.append("filters") }
                    reply($0.map(\.total))
                }
            default:
                registry.put(
                    "films", component: nil, [ItemDraft(item: .film("late"))], by: .ann
                ) {
                    order.withLock { $0.append("put") }
                    reply($0.map { _ in 0 })
                }
            }
        }
        #expect(try pages.map { try $0.get() } == [1, 1, 0])
        #expect(order.withLock { $0 }.first == "put")
        #expect(await host.on { $0.domainSteps } - before > 5_500)
        try await host.end()
    }

    @Test func `so many texts are listed by, and not counted`() async throws {
        let host = try await big()
        #expect(try await host.list("films", Self.selection).total == 1)
        let error = HostError.limitExceeded(limit: "countedFilters", value: 100, retryAfter: nil)
        await expect(error) { try await host.list("films", Self.selection, facets: true) }
        await expect(error) {
            try await host.call {
                $0.filters("films", component: nil, selection: Self.selection, search: nil, $1)
            }
        }
        await expect(error) {
            _ = try await ScreenClient(
                host, ScreenRequest(container: "films", selection: Self.selection))
        }
        try await host.end()
    }

    @Test func `a screen with a hundred texts is prepared, and follows`() async throws {
        let host = try await big()
        let before = await host.on { $0.domainSteps }
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", selection: Self.counted))
        try await client.catchUp()
        #expect(client.ids() == ["film-77"])
        #expect(await host.on { $0.domainSteps } - before > 500)
        try await host.put(film("more", title: "number 77 again"))
        try await client.catchUp()
        #expect(client.ids() == ["film-77", "more"])
        // So many changes at once that the index is asked anew.
        let opened = await host.on { $0.domainSteps }
        try await host.put((0..<900).map { film("small-\($0)", title: "number 77 of \($0)") })
        while client.ids().count < 50 {
            try await client.catchUp()
            _ = try await host.status()
        }
        #expect(client.copy.lists["list"]?.first?.id == "film-77")
        #expect(await host.on { $0.domainSteps } - opened > 500)
        try await host.end()
    }

    /// A club of films whose titles take five runs.
    private func big() async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(
            .films.changed {
                $0.components[0].settings = [
                    "sections": [["id": "title", "field": "title", "input": "text"]]
                ]
            })
        let padding = String(repeating: "abcdefgh", count: 1_250)
        for start in stride(from: 0, to: 500, by: 100) {
            try await host.put(
                (start..<start + 100).map { film("film-\($0)", title: "number \($0) \(padding)") })
        }
        return host
    }

    private func film(_ id: String, title: String) -> Item {
        Item(id: id, fields: ["title": .text(title), "rating": 7])
    }
}

extension Registry {
    /// What was done in slices so far.
    fileprivate var domainSteps: Int { domain.steps }
}
