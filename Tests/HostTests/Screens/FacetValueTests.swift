import AtriumKit
import Facets
import PluginLoader
import Synchronization
import TestSupport
import Testing

@testable import Host
@testable import Index

/// Sections over fields with more values than a section lists.
@Suite(.timeLimit(.minutes(1))) struct FacetValueTests {
    @Test func `a section lists the values that most items have, and others can be selected`()
        async throws
    {
        var limits = HostLimits()
        limits.facetValues = 3
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        let films = (0..<6).flatMap { genre in
            (0...genre).map { Item.film("f\(genre)-\($0)", ["g\(genre)"]) }
        }
        try await host.put(films)
        let client = try await ScreenClient(host)
        try await client.catchUp()
        var genres = try #require(client.copy.sections?[0])
        #expect(genres.filters.map(\.id) == ["g3", "g4", "g5"])
        #expect(genres.filters.map(\.count) == [4, 5, 6])
        #expect(genres.more && genres.rest == 3)
        #expect(client.copy.sections?[1].more == false, "its filters are those of the settings")
        let id = client.id
        _ = try await host.call { $0.select(id, section: "genre", filter: "g1", by: .ann, $1) }
        try await client.catchUp()
        genres = try #require(client.copy.sections?[0])
        #expect(genres.filters.map(\.id) == ["g3", "g4", "g5", "g1"])
        #expect(genres.filters.map(\.selected) == [false, false, false, true])
        #expect(client.ids() == ["f1-0", "f1-1"])
        try await host.put((0..<20).map { .film("new\($0)", ["g0"]) })
        try await client.catchUp()
        genres = try #require(client.copy.sections?[0])
        #expect(genres.filters.map(\.id) == ["g0", "g4", "g5", "g1"])
        #expect(genres.filters.map(\.count) == [21, 5, 6, 2])
        let page = try await host.list(facets: true)
        #expect(page.sections?[0].filters.map(\.id) == ["g0", "g4", "g5"])
        #expect(page.sections?[0].more == true)
        try await host.end()
    }

    @Test func `a click asks for the selection, the sections, and filters that are not on offer`()
        async throws
    {
        let script = RemoteLauncher.Script()
        let host = try await TestRegistry.start(workers: RemoteLauncher(script))
        try await host.apply(
            .films.changed {
                $0.components[0].isolation = .process
                $0.components[0].settings = [
                    "sections": [
                        ["id": "genre", "field": "genres", "input": "several"],
                        ["id": "rating", "field": "rating", "input": "range"],
                    ]
                ]
            })
        try await host.put(.film("heat"), .film("alien", ["horror"]))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let id = client.id
        var asked = script.questions.count
        _ = try await host.call { $0.select(id, section: "genre", filter: "drama", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["heat"])
        #expect(script.questions.dropFirst(asked) == ["select", "sections"])
        asked = script.questions.count
        // A range that no section offers: what it lets through only the component knows.
        _ = try await host.call { $0.select(id, section: "rating", filter: "5..", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["heat"])
        #expect(script.questions.dropFirst(asked) == ["select", "sections", "filters"])
        try await host.end()
    }

    private func find(
        _ page: SectionPage, _ host: TestRegistry, selected: Selection = Selection()
    ) async throws -> FiltersPage {
        try await host.call {
            $0.filters(
                "films", component: nil, selection: selected, search: nil, page: page, $1)
        }
    }

    @Test func `all filters of a section are found in its order, by a text and page by page`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        // Of 500 values 50 are sent.
        try await host.put(
            (100..<600).map { .film("f\($0)", [$0 % 100 == 7 ? "École \($0)" : "g\($0)"]) })
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let section = try #require(client.copy.sections?[0])
        #expect(section.filters.count == 50 && section.more && section.rest == 450)
        var all: [String] = []
        var page = SectionPage(section: "genre")
        repeat {
            let found = try await find(page, host)
            #expect(found.sections.map(\.id) == ["genre"])
            #expect(found.sections[0].filters.allSatisfy { $0.count == 1 })
            all += found.sections[0].filters.map(\.id)
            #expect(found.sections[0].rest == (found.next == nil ? nil : 500 - all.count))
            page.cursor = found.next
        } while page.cursor != nil
        #expect(all.count == 500 && Set(all).count == 500)
        #expect(
            Array(all.prefix(6)) == [
                "École 107", "École 207", "École 307", "École 407", "École 507", "g100",
            ])

        let selected = Selection(["genre": ["g123", "École 207"]])
        let schools = try await find(
            SectionPage(section: "genre", text: "ECOLE"), host, selected: selected)
        #expect(schools.sections[0].filters.map(\.id) == Array(all.prefix(5)))
        #expect(schools.sections[0].filters.map(\.selected) == [false, true, false, false, false])
        #expect(schools.total == 2 && schools.next == nil)
        let ratings = try await find(SectionPage(section: "rating", text: "UP"), host)
        #expect(ratings.sections[0].filters.map(\.id) == ["8+"], "filters of the settings")
        let none = try await find(SectionPage(section: "genre", text: "nothing"), host)
        #expect(none.sections[0].filters.isEmpty)

        // One count of 500 changes: none of the others is sent.
        let before = client.copy.sections
        try await host.put(.film("new", ["g100"]))
        try await client.catchUp()
        #expect(client.copy.sections?[0].filters.map(\.id) == before?[0].filters.map(\.id))
        await expect(
            .filterNotFound(section: "x", filter: "", known: ["genre", "rating"], reason: nil)
        ) { _ = try await find(SectionPage(section: "x"), host) }
        try await host.end()
    }

    @Test(
        arguments: [
            "9223372036854775807", "9223372036854775757", "-9223372036854775808",
            "9223372036854775808", "9007199254740992", "10000", "60", "0", "-1", "+50", "050",
            "5e1", "fifty", "",
        ])
    func `a cursor that no page has given is refused`(cursor: String) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((100..<160).map { .film("f\($0)", ["g\($0)"]) })
        var page = SectionPage(section: "genre", cursor: cursor)
        await expect(
            .cursorInvalid(
                "It is not the 'next' of a page of these filters as they are now. Start again "
                    + "without a cursor.")
        ) { _ = try await find(page, host) }
        page.cursor = "50"
        #expect(try await find(page, host).sections[0].filters.count == 10)
        try await host.end()
    }

    @Test func `values beyond what is looked through are refused with their number`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        for part in 0..<11 {
            try await host.put((0..<1_000).map { .film("f\(part)-\($0)", ["g\(part)-\($0)"]) })
        }
        do {
            _ = try await find(SectionPage(section: "genre", text: "g1"), host)
            Issue.record("it was not refused")
        } catch HostError.refused(let reason, _) {
            #expect(reason.contains("'genre'") && reason.contains("11000 values"), "\(reason)")
            #expect(reason.contains("at most 10000") && reason.contains("input: text"), "\(reason)")
        }
        try await host.end()
    }

    @Test func `the values of two lists are sorted together`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(Self.twoLists())
        try await host.put(.film("a", ["Drama"]), .film("b", ["crime", "noir"]))
        try await host.putMore(.film("c", ["Comedy", "noir"]), .film("d", ["émigré"]))
        let page = try await host.list(facets: true)
        #expect(
            page.sections?[0].filters.map(\.id) == ["Comedy", "crime", "Drama", "émigré", "noir"])
        try await host.end()
    }

    @Test func `filters are counted in the first list that is not left out`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(Self.twoLists { $0.components[1].hidesEmpty = true })
        try await host.putMore(.film("a", ["crime"]), .film("b", ["crime"]))
        let client = try await ScreenClient(host)
        let count = { client.copy.sections?[0].filters.first { $0.id == "crime" }?.count }
        try await client.catchUp()
        #expect(count() == 2)
        try await host.put(.film("c", ["crime"]))
        try await client.catchUp()
        #expect(count() == 1, "the first list is there again")
        try await host.putMore(.film("d", ["crime"]))
        try await client.catchUp()
        #expect(count() == 1)
        try await host.remove("c")
        try await client.catchUp()
        #expect(count() == 3)
        try await host.end()
    }

    private static func twoLists(
        _ change: (inout ContainerDefinition) -> Void = { _ in }
    ) -> ContainerDefinition {
        .films.changed {
            $0.components.insert(
                ComponentDefinition(name: "more", plugin: "org.atrium.catalog"), at: 2)
            change(&$0)
        }
    }

    @Test func `values of which there are very many are looked for in slices`() async throws {
        var limits = HostLimits()
        limits.facetValues = 10
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        for part in 0..<10 {
            try await host.put((0..<1_000).map { .film("f\(part)-\($0)", ["g\(part)-\($0)"]) })
        }
        try await host.put((0..<30).map { .film("new\($0)", ["h\($0 % 10)"]) })
        let before = await host.on { $0.domain.slices.steps }
        let page = try await host.list(facets: true)
        #expect(await host.on { $0.domain.slices.steps } - before >= 10_000 / ValueSearch.few)
        #expect(page.sections?[0].filters.map(\.id) == (0..<10).map { "h\($0)" })
        #expect(page.sections?[0].filters.map(\.count) == Array(repeating: 3, count: 10))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(client.copy.sections == page.sections)
        // After changes of an eighth of the values, screens offer others.
        for part in 0..<3 {
            try await host.put((0..<1_000).map { .film("f\(part)-\($0)", ["i\($0 % 10)"]) })
        }
        while await host.isFollowing() {}
        try await until {
            try await client.catchUp()
            return client.copy.sections?[0].filters.map(\.id) == (0..<10).map { "i\($0)" }
        }
        try await host.end()
    }

    @Test func `views share what they ask of a filters component`() async throws {
        let host = try await TestRegistry.start(
            plugins: .builtIn + [.inProcess("counting", .filters, CountingFilters.self)])
        try await host.apply(
            ContainerDefinition.films.changed { $0.components[0].plugin = "counting" })
        try await host.put((0..<40).map { .film("f\($0)", ["g\($0 % 5)"]) })
        var clients: [ScreenClient] = []
        for number in 0..<60 {
            let selected = Selection(number % 3 == 0 ? [:] : ["genre": ["g\(number % 3)"]])
            clients.append(
                try await ScreenClient(
                    host,
                    ScreenRequest(container: "films", selection: selected, limit: number + 1)))
        }
        for client in clients { try await client.catchUp() }
        while await host.isFollowing() {}
        let before = CountingFilters.asked.load(ordering: .relaxed)
        let visits = await host.visits()
        try await host.put(.film("new", ["never seen"]))
        #expect(await host.visits() - visits >= 60)
        let asked = CountingFilters.asked.load(ordering: .relaxed) - before
        #expect(asked <= 2 * 3, "its sections, and a filter for each selection")
        for client in clients {
            try await client.catchUp()
            #expect(client.copy.sections?[0].filters.map(\.id).contains("never seen") == true)
        }
        try await host.end()
    }
}

/// Facets that count how often they are asked.
private final class CountingFilters: Filtering {
    static let asked = Atomic(0)
    static var settings: [Setting] { Facets.settings }

    weak var delegate: (any FilteringDelegate)?
    private let facets: Facets

    init(context: ComponentContext) throws { facets = try Facets(context: context) }

    var observedFields: [String] { facets.observedFields }

    func fieldValuesDidChange(_ values: [String: [Value]], cut: Set<String>) {
        facets.fieldValuesDidChange(values, cut: cut)
    }

    var sections: [FilterSection] {
        Self.asked.wrappingAdd(1, ordering: .relaxed)
        return facets.sections
    }

    func filter(_ id: String, in section: String) throws(Refusal) -> Filter {
        Self.asked.wrappingAdd(1, ordering: .relaxed)
        return try facets.filter(id, in: section)
    }
}

extension TestRegistry {
    /// Puts items into the second of two lists.
    fileprivate func putMore(_ items: Item...) async throws {
        let drafts = items.map { ItemDraft(item: $0) }
        _ = try await call { $0.put("films", component: "more", drafts, by: .ann, $1) }
    }
}
