import AtriumKit
import Testing

@testable import Host
@testable import Index

/// Votes and comments components that come first or do so no longer: lists show what the first ones
/// tell.
@Suite(.timeLimit(.minutes(2))) struct RewiringTests {
    private static let count = 1_500

    /// Films of which each has a vote in the first votes component, none in the second.
    private func films() async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(
            .films.changed {
                $0.components.append(
                    ComponentDefinition(name: "likes", plugin: "org.atrium.stars"))
            })
        for start in stride(from: 0, to: Self.count, by: 500) {
            try await host.put((start..<start + 500).map { .film("f\($0)") })
        }
        let results = try await host.callAll(Self.count) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "f\(index)"), value: 4,
                by: Caller(actor: "unix:\(10_000 + index)"), reply)
        }
        for result in results { _ = try result.get() }
        return host
    }

    private func voted(_ host: TestRegistry) async -> Int {
        await host.on { $0.votedItems }
    }

    /// Changes the order, and counts the steps that this took.
    private func steps(
        of host: TestRegistry, moving component: String, to place: Int
    ) async throws -> Int {
        let before = await host.on { $0.domain.slices.steps }
        _ = try await host.call { $0.move("films", component, to: place, by: .ann, $1) }
        return await host.on { $0.domain.slices.steps } - before
    }

    @Test func `lists are given the tallies of another component an item a step`() async throws {
        var host = try await films()
        #expect(await voted(host) == Self.count)
        #expect(try await steps(of: host, moving: "likes", to: 0) >= Self.count)
        // Whoever is told the sequence reads nothing of before.
        #expect(await voted(host) == 0)
        _ = try await host.call {
            $0.cast(
                SubjectAddress(container: "films", component: "likes", item: "f7"), value: 2,
                by: .ann, $1)
        }
        #expect(await voted(host) == 1)
        #expect(try await steps(of: host, moving: "stars", to: 0) >= Self.count)
        #expect(await voted(host) == Self.count)
        #expect(
            try await host.list(sort: ["votes.score"], limit: 1).items[0].votes?.tally.score == 4)
        host = try await host.restarted()
        #expect(await voted(host) == Self.count)
        try await host.end()
    }

    @Test func `votes that are cast meanwhile are in the lists`() async throws {
        let host = try await films()
        for target in ["likes", "stars"] {
            let results: [Result<Void, HostError>] = try await host.callAll(200) {
                registry, index, reply in
                guard index > 0 else {
                    return registry.move("films", target, to: 0, by: .ann) {
                        reply($0.map { _ in })
                    }
                }
                registry.cast(
                    SubjectAddress(container: "films", component: target, item: "f\(index)"),
                    value: 2, by: .bob
                ) { reply($0.map { _ in }) }
            }
            for result in results { try result.get() }
        }
        let ballots = await host.on { $0.listedBallots }
        #expect(ballots == Self.count + 199)
        try await host.end()
    }

    @Test func `a votes component that is gone is in no list any more`() async throws {
        let host = try await films()
        let before = await host.on { $0.domain.slices.steps }
        _ = try await host.call { $0.detach("films", "stars", purge: false, by: .ann, $1) }
        #expect(await host.on { $0.domain.slices.steps } - before >= Self.count)
        #expect(await voted(host) == 0)
        try await host.end()
    }
}

extension Registry {
    /// How many items the list shows with votes.
    fileprivate var votedItems: Int { tallies.count }

    /// How many votes it shows.
    fileprivate var listedBallots: Int { tallies.reduce(0) { $0 + $1.count } }

    private var tallies: [Tally] {
        guard let list = containers["films"]?.slot("list")?.list else { return [] }
        return list.ids(inRows: 0..<list.rowCount).compactMap { list.item($0)?.tally }
            .filter { $0.count > 0 }
    }
}
