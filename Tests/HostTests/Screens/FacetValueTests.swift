import AtriumKit
import Testing

@testable import Host

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
        #expect(genres.more)
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
}
