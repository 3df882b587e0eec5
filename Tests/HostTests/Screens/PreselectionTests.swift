import AtriumKit
import TestSupport
import Testing

@testable import Host

/// A section of genres that takes one, and a section of any titles; the settings say what is preselected.
private final class Preselecting: Filtering {
    private static let preselects = Setting.text("preselects", "what it preselects").required()
    static var settings: [Setting] { [preselects.setting] }

    weak var delegate: (any FilteringDelegate)?
    let preselection: Selection

    init(context: ComponentContext) throws {
        preselection =
            switch context.settings[Self.preselects] {
            case "gone": Selection(["genre": ["gone"], "title": ["heat"]])
            case "section": Selection(["nowhere": ["a", "b"], "title": ["heat"]])
            case "two": Selection(["genre": ["crime", "horror"]])
            case "long":
                Selection(["title": [String(repeating: "x", count: 5_000), "heat", "heat"]])
            case "many": Selection(["title": ["heat"] + (0..<1_200).map { "t\($0)" }])
            default: Selection(["genre": ["crime"]])
            }
    }

    var sections: [FilterSection] {
        [
            FilterSection(
                id: "genre", title: "Genre", input: .single,
                filters: ["crime", "horror"].map { genre in
                    Filter(
                        id: genre, title: genre,
                        predicate: .equals(field: "genres", value: .text(genre)))
                }),
            FilterSection(id: "title", title: "Title", input: .several, filters: []),
        ]
    }

    func filter(_ id: String, in section: String) throws(Refusal) -> Filter {
        let offered = sections.first { $0.id == section }?.filters.first { $0.id == id }
        if let offered { return offered }
        guard section == "title", id != "gone" else {
            throw Refusal(
                .filterNotFound, "There is no filter '\(id)'.",
                evidence: ["section": section, "filter": id])
        }
        return Filter(
            id: id, title: id, predicate: .equals(field: "title", value: .text("The \(id)")))
    }
}

/// Screens that are opened without a selection, where a component preselects what can't be selected.
@Suite(.timeLimit(.minutes(2))) struct PreselectionTests {
    private func films(_ preselects: String, name: String = "films") -> ContainerDefinition {
        .films.changed {
            $0.name = name
            $0.components[0].plugin = "test.preselecting"
            $0.components[0].settings = ["preselects": .text(preselects)]
        }
    }

    private func host(_ definitions: ContainerDefinition...) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            plugins: .builtIn + [.inProcess("test.preselecting", .filters, Preselecting.self)])
        for definition in definitions { try await host.apply(definition) }
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        return host
    }

    @Test(arguments: [
        (
            "gone", ["heat"],
            "preselects the filter 'gone' of 'genre', which is left out: There is no filter 'gone'."
        ),
        (
            "section", ["heat"],
            "preselects the filter 'a' of 'nowhere', which is left out: There is no such section. "
                + "2 are left out in all."
        ),
        (
            "two", ["heat"],
            "preselects the filter 'horror' of 'genre', which is left out: The section takes one "
                + "filter at a time, and 'crime' is selected."
        ),
        ("long", ["heat"], "which is left out: Its id has 5000 bytes, where 4096 are allowed"),
        (
            "many", ["heat"],
            "preselects the filter 't999' of 'title', which is left out: At most 1000 filters are "
                + "selected (limits.selectedFilters). 201 are left out in all."
        ),
    ]) func `what can't be selected is left out, and the status says so`(
        preselects: String, shown: [String], problem: String
    ) async throws {
        let host = try await host(films(preselects))
        let client = try await ScreenClient(host)
        try await client.catchUp(until: { client.ids() == shown })
        let status = try await host.status()
        #expect(status.state == .degraded)
        #expect(status.reason?.contains(problem) == true, "\(status.reason ?? "")")
        #expect(status.components[0].reason?.hasPrefix("It preselects the filter") == true)

        try await host.apply(films("crime"))
        #expect(try await host.status().state == .ready)
        let other = try await ScreenClient(host)
        try await other.catchUp(until: { other.ids() == ["heat"] })
        try await host.end()
    }

    @Test func `a part is shown without what can't be selected, too`() async throws {
        let host = try await host(
            films("gone"),
            ContainerDefinition.films.changed {
                $0.name = "day"
                $0.components.append(ComponentDefinition(name: "part", container: "films"))
            })
        let client = try await ScreenClient(host, ScreenRequest(container: "day"))
        try await client.catchUp(until: { client.ids(in: "part") == ["heat"] })
        #expect(client.copy.problems["part"] == nil)
        try await host.end()
    }

    @Test func `what a user selects is refused as before`() async throws {
        let host = try await host(films("crime"))
        await #expect(throws: HostError.self) {
            _ = try await ScreenClient(
                host,
                ScreenRequest(container: "films", selection: Selection(["genre": ["gone"]])))
        }
        try await host.end()
    }
}
