import AtriumKit
import TestSupport
import Testing

@testable import Host

/// Sections that take one filter at a time, and screens whose filters go.
@Suite(.timeLimit(.minutes(3))) struct CrowdedSectionTests {
    /// The films, by genre in a section of some input: of all genres, or of those that are listed.
    private static func films(_ input: Value, listed: [String]? = nil) -> ContainerDefinition {
        .films.changed {
            var section: [String: Value] = ["id": "genre", "field": "genres", "input": input]
            section["filters"] = listed.map { genres in
                .list(genres.map { ["id": .text($0), "value": .text($0)] })
            }
            $0.components[0].settings = ["sections": .list([.object(section)])]
        }
    }

    private func host(_ definition: ContainerDefinition) async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(definition)
        try await host.put(
            .film("heat", ["crime"]), .film("alien", ["horror"]), .film("brazil", ["drama"]))
        return host
    }

    private static let crowded = Selection(["genre": ["crime", "horror"]])

    @Test func `a section that takes one filter takes one in every call`() async throws {
        let host = try await host(Self.films("single"))
        let refusal = HostError.filterNotFound(
            section: "genre", filter: "horror", known: ["crime"],
            reason:
                "The section 'genre' takes one filter at a time, and 'crime' is selected: leave "
                + "one of both out.")
        await expect(refusal) {
            try await host.call {
                $0.list("films", ListRequest(selection: Self.crowded), $1)
            }
        }
        await expect(refusal) {
            try await host.call {
                $0.filters(
                    "films", component: nil, scope: nil, selection: Self.crowded, search: nil, $1)
            }
        }
        await expect(refusal) {
            _ = try await ScreenClient(
                host, ScreenRequest(container: "films", selection: Self.crowded))
        }
        #expect(await host.on { $0.status(hasDetails: true).screens } == 0)
        let twice = Selection(["genre": ["crime", "crime"]])
        let page = try await host.call {
            $0.list("films", ListRequest(selection: twice), $1)
        }
        #expect(page.items.map(\.id) == ["heat"])
        try await host.end()
    }

    @Test func `a section that takes one from now on leaves a screen the first that it had`()
        async throws
    {
        let host = try await host(Self.films("several"))
        let client = try await ScreenClient(
            host,
            ScreenRequest(
                container: "films", selection: Selection(["genre": ["crime", "horror", "drama"]])))
        try await client.catchUp()
        #expect(client.ids() == ["alien", "brazil", "heat"])
        try await host.apply(Self.films("single"))
        try await until {
            try await client.catchUp()
            return client.ids() == ["heat"]
        }
        try await host.end()
    }

    @Test func `a screen goes on without filters that go at the same time`() async throws {
        let host = try await host(Self.films("several", listed: ["crime", "horror", "drama"]))
        let client = try await ScreenClient(
            host,
            ScreenRequest(
                container: "films", selection: Selection(["genre": ["crime", "horror", "drama"]])))
        try await client.catchUp()
        try await host.apply(Self.films("several", listed: ["drama"]))
        try await until {
            try await client.catchUp()
            return client.ids() == ["brazil"]
        }
        try await host.end()
    }
}
