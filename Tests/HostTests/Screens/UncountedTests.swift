import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Where nobody counts what filters would show.
@Suite(.timeLimit(.minutes(3))) struct UncountedTests {
    private func counts(_ sections: [SectionView]?) -> [Int?] {
        sections?.flatMap { $0.filters.map(\.count) } ?? []
    }

    @Test func `filters over a source that is asked have no counts, on screens and in calls`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films(filters: true))
        let client = try await oracle.open(limit: 3)
        try await client.catchUp { client.ids() == ["a", "b", "c"] }
        #expect(counts(client.copy.sections) == [nil], "8 and up")
        let page = try await oracle.host.list(facets: true)
        #expect(counts(page.sections) == [nil])
        let filters: FiltersPage = try await oracle.host.call {
            $0.filters("films", component: nil, selection: Selection(), search: nil, $1)
        }
        #expect(counts(filters.sections) == [nil])
        let id = client.id
        _ = try await oracle.host.call {
            $0.select(id, section: "rating", filter: "8+", by: .ann, $1)
        }
        try await client.catchUp { client.copy.sections?[1].filters[0].selected == true }
        #expect(counts(client.copy.sections) == [nil])
        try await oracle.host.end()
    }

    @Test func `counts go while an asked list is searched, and come back after`() async throws {
        let oracle = try await OracleHost.start(
            .films.changed {
                $0.components.append(ComponentDefinition(name: "found", plugin: "test.oracle"))
                $0.lists = ListModes(contents: ["list"], searched: ["found"])
            })
        try await oracle.host.put(.film("heat", ["crime"], rating: 9))
        let client = try await oracle.open()
        try await client.catchUp()
        #expect(counts(client.copy.sections) == [1, 1])
        try await oracle.search("ab", on: client)
        try await client.catchUp { client.ids("found") == ["a", "b"] }
        #expect(counts(client.copy.sections) == [nil, nil])
        try await oracle.search("", on: client)
        try await client.catchUp { client.ids() == ["heat"] }
        #expect(counts(client.copy.sections) == [1, 1])
        try await oracle.host.end()
    }

    @Test func `a calendar above parts has no counts until a list comes`() async throws {
        let host = try await PartTests.host()
        let calendar = PartTests.day("sleep").changed { $0.components.remove(at: 1) }
        try await host.remove("noon", "night", in: "day")
        try await host.apply(calendar, prune: true)
        let client = try await ScreenClient(host, PartTests.request)
        try await client.catchUp()
        #expect(client.copy.sections?.isEmpty == false)
        #expect(counts(client.copy.sections).allSatisfy { $0 == nil })
        #expect(counts(client.copy.parts["sleep"]?.sections).allSatisfy { $0 != nil })
        let filters: FiltersPage = try await host.call {
            $0.filters("day", component: nil, selection: Selection(), search: nil, $1)
        }
        #expect(counts(filters.sections).allSatisfy { $0 == nil })
        try await host.apply(PartTests.day("sleep"))
        try await client.catchUp { client.copy.components.contains { $0.name == "list" } }
        try await client.catchUp()
        #expect(counts(client.copy.sections).allSatisfy { $0 == 0 })
        try await host.end()
    }

    @Test func `items of an asked source are not counted as children`() async throws {
        let oracle = try await OracleHost.start(Oracle.films())
        let client = try await oracle.open(limit: 2)
        try await client.catchUp { client.ids() == ["a", "b"] }
        let id = client.id
        _ = try await oracle.host.call { $0.enter(id, item: "b", by: .ann, $1) }
        try await client.catchUp { client.ids() == ["b1", "b2"] }
        _ = try await oracle.host.call { $0.back(id, by: .ann, $1) }
        try await client.catchUp { client.ids() == ["a", "b"] }
        #expect(client.copy.lists["list"]?.map(\.children) == [nil, nil])
        #expect(try await oracle.host.list(limit: 2).items.map(\.children) == [nil, nil])
        let item: ItemResult = try await oracle.host.call {
            $0.get("films", component: nil, item: "b", actor: nil, $1)
        }
        #expect(item.item.children == nil)
        try await oracle.host.end()
    }
}
