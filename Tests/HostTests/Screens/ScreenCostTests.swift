import AtriumKit
import Foundation
import Synchronization
import Testing

@testable import Host

/// What a commit costs the screens: the views that it concerns, and no others, in slices.
@Suite(.timeLimit(.minutes(5))) struct ScreenCostTests {
    /// What one screen has chosen, each another view.
    struct Choice {
        var sort: [String]
        var search: String
        var limit: Int

        var request: ScreenRequest {
            ScreenRequest(container: "films", search: search, sort: sort, limit: limit)
        }

        /// Whether a change of these fields of an item, which stands or stood at a place, concerns it:
        /// known are the window and at most as many rows behind it as it keeps.
        func isConcerned(by fields: Set<String>, at place: Int?) -> Bool {
            let looked = Set(sort.map { $0.replacing("-", with: "") })
                .union(search.isEmpty ? [] : ["title"])
            return !looked.isDisjoint(with: fields)
                || place.map { $0 < limit + 2 * (limit / 2 + 8) } ?? false
        }
    }

    static let sorts = [["title"], ["-rating", "title"], ["-votes.score"], ["comments.count"], []]

    private func title(_ item: Int, _ random: inout SeededRandom) -> Item {
        var film = Item.film("f\(item)", ["g\(item % 3)"], rating: Double(item % 10))
        film.fields["title"] = .text("title \(Int.random(in: 1...999, using: &random))")
        return film
    }

    @Test func `a commit is looked at by the views that it concerns, whatever they show`()
        async throws
    {
        let seed =
            ProcessInfo.processInfo.environment["SCREENS_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 1...(.max))
        var random = SeededRandom(state: seed)
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<150).map { title($0, &random) })
        let choices = (0..<20).map { place in
            Choice(
                sort: Self.sorts[place % 5], search: place % 4 == 3 ? "title \(place)" : "",
                limit: place + 1)
        }
        var clients: [ScreenClient] = []
        for choice in choices { clients.append(try await ScreenClient(host, choice.request)) }
        for client in clients { try await client.catchUp() }
        var orders = try await orders(choices, host)
        var unconcerned = 0
        for step in 0..<200 {
            let item = Int.random(in: 0..<150, using: &random)
            let before = await host.visits()
            var fields: Set<String> = ["title"]
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try await host.put(title(item, &random))
            case 1:
                try await host.cast(Double(Int.random(in: 1...5, using: &random)), on: "f\(item)")
                fields = ["votes.score", "votes.count"]
            default:
                try await host.post("text", on: "f\(item)")
                fields = ["comments.count"]
            }
            let visits = await host.visits() - before
            let now = try await self.orders(choices, host)
            let concerned = choices.indices.count { place in
                [orders, now].contains {
                    choices[place].isConcerned(
                        by: fields, at: $0[place].firstIndex(of: "f\(item)"))
                }
            }
            orders = now
            try #require(visits <= concerned, "SCREENS_SEED=\(seed), step \(step)")
            unconcerned += choices.count - concerned
            let place = Int.random(in: choices.indices, using: &random)
            try await clients[place].catchUp()
            let shown = try await page(choices[place], host, limit: choices[place].limit)
            try #require(
                clients[place].copy.lists["list"] == shown.items,
                "SCREENS_SEED=\(seed), step \(step)")
            try #require(clients[place].copy.sections == shown.sections)
        }
        #expect(unconcerned > 1_000, "else this tells nothing")
        try await host.end()
    }

    private func page(_ choice: Choice, _ host: TestRegistry, limit: Int) async throws -> ListPage {
        try await host.list(
            search: choice.search, sort: choice.sort, facets: true, limit: limit)
    }

    private func orders(_ choices: [Choice], _ host: TestRegistry) async throws -> [[String]] {
        var orders: [[String]] = []
        for choice in choices {
            orders.append(try await page(choice, host, limit: 1_000).items.map(\.id))
        }
        return orders
    }

    @Test func `a diff tells of the counts that changed, and of no other filter`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<40).map { .film("f\($0)", ["g\($0 % 20)"]) })
        let client = try await ScreenClient(host)
        try await client.catchUp()
        try await host.put(.film("new", ["g3"], rating: 9))
        let diff = try #require(try await client.pull())
        #expect(diff.step.view.sections == nil)
        let counts = diff.step.view.counts
        #expect(counts.map(\.section) == ["genre", "rating"])
        #expect(counts.map { $0.filters.map(\.count) } == [[3], [1]])
        try await host.put(.film("other", ["another"]))
        let other = try #require(try await client.pull())
        #expect(other.step.view.components == nil)
        #expect(other.step.view.sections?.map(\.id) == ["genre"], "it offers one more")
        #expect(other.step.view.counts.isEmpty)
        #expect(client.copy.sections?[0].filters.count == 21)
        #expect(client.copy.sections?[1].filters.map(\.count) == [1])
        try await host.end()
    }

    @Test func `hundreds of views follow in slices, and a commit is in one revision of each`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<50).map { .film("f\($0)", ["g\($0 % 5)"]) })
        var readers: [EagerReader] = []
        for place in 0..<600 {
            let reader = EagerReader(host.registry)
            try await reader.open(
                host,
                ScreenRequest(
                    container: "films", sort: [["title"], ["-id"], ["-votes.score"]][place % 3],
                    limit: place + 1))
            readers.append(reader)
        }
        // A value that is new makes all of them look up their filters again.
        async let first = host.put(.film("new", ["never seen"]))
        async let second = host.cast(5, on: "f7")
        let put = try await first.sequence
        _ = try await second
        let isLeft = await host.isFollowing()
        #expect(isLeft, "all were served in one turn")
        let visits = await host.visits()
        #expect(visits >= 600)
        let page = try await host.list(sort: ["title"], facets: true, limit: 1_000)
        for reader in readers {
            let (copy, sequences, failure) = await host.on { _ in
                (reader.copy, reader.sequences, reader.failure)
            }
            #expect(failure == nil)
            #expect(Set(sequences).count == sequences.count, "one commit in two: \(sequences)")
            #expect(sequences.last.map { $0 >= put } == true)
            #expect(copy.sections == page.sections)
            #expect(copy.totals["list"] == 51)
        }
        try await host.end()
    }
}

/// Reads its screen whenever it is woken, at once.
///
/// Unchecked: everything happens on the registry's event loop.
final class EagerReader: @unchecked Sendable {
    private let registry: Registry
    private var reader: ScreenReader?
    private(set) var copy = ScreenCopy()
    private(set) var sequences: [Int64] = []
    private(set) var failure: String?

    init(_ registry: Registry) { self.registry = registry }

    @discardableResult
    func open(_ host: TestRegistry, _ request: ScreenRequest) async throws -> ScreenID {
        let reader = try await host.call { registry, reply in
            registry.openScreen(request, by: .ann, wake: { self.read() }, reply)
        }
        await host.on { _ in
            self.reader = reader
            self.read()
        }
        return reader.screen
    }

    private func read() {
        guard let reader else { return }
        do {
            guard let new = try registry.assumeIsolated({ try $0.pullScreen(reader).get() })
            else { return }
            sequences.append(new.sequence)
            try copy.apply(new)
            read()
        } catch {
            failure = "\(error)"
        }
    }
}

extension TestRegistry {
    /// Whether screens of the films are following.
    func isFollowing() async -> Bool {
        await on { registry in
            registry.containers["films"].map {
                $0.screening.isFollowing || $0.screening.isDirty
            } ?? false
        }
    }

    /// How often a view of the films was looked at, once all follow.
    func visits() async -> Int {
        while await isFollowing() {}
        return await on { $0.containers["films"]?.screening.visits ?? 0 }
    }
}
