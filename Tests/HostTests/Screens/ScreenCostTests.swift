import AtriumKit
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Host

/// What a commit costs the screens: the views that it affects, and no others, in slices.
@Suite(.timeLimit(.minutes(5))) struct ScreenCostTests {
    /// What one screen has chosen, each another view.
    struct Choice {
        var sort: [String]
        var search: String
        var limit: Int
        var actor: String?

        var request: ScreenRequest {
            ScreenRequest(
                container: "films", search: search, sort: sort, limit: limit, actor: actor)
        }

        /// Whether a change of these fields of an item, which stands or stood at a place, affects it:
        /// each counts by genre and rating, and known are the window and at most as many rows behind it
        /// as it keeps.
        func isAffected(by fields: Set<String>, at place: Int?) -> Bool {
            let looked = Set(sort.map { $0.replacing("-", with: "") })
                .union(search.isEmpty ? [] : ["title"])
                .union(["presence", "genres", "rating"])
            return !looked.isDisjoint(with: fields)
                || place.map { $0 < limit + 2 * (limit / 2 + 8) } ?? false
        }
    }

    static let sorts = [["title"], ["-rating", "title"], ["-votes.score"], ["comments.count"], []]

    /// What a step is about, and the fields that it touches.
    private struct Change {
        var item: String
        var fields: Set<String>
    }

    private func change(
        _ films: inout [String: Item], _ random: inout RepeatableRandom, _ host: TestRegistry
    ) async throws -> Change {
        let number = Int.random(in: 0..<150, using: &random)
        let id = "f\(number)"
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            // Another title, now and then another rating, a genre that is new or the only one's.
            var film = films[id] ?? .film(id, ["g\(number % 3)"], rating: Double(number % 10))
            film.fields["title"] = .text("title \(Int.random(in: 1...999, using: &random))")
            switch Int.random(in: 0..<8, using: &random) {
            case 0: film.fields["rating"] = .number(Double(Int.random(in: 0...9, using: &random)))
            case 1: film.fields["genres"] = .list([.text("own \(number)")])
            default: break
            }
            let old = films.updateValue(film, forKey: id)
            try await host.put(film)
            guard let old else { return Change(item: id, fields: ["presence"]) }
            return Change(
                item: id,
                fields: Set(film.fields.keys.filter { film.fields[$0] != old.fields[$0] }))
        case 4 where films[id] != nil:
            films[id] = nil
            try await host.remove(id)
            return Change(item: id, fields: ["presence"])
        case 5..<8 where films[id] != nil:
            let voter = [Caller.ann, .bob][Int.random(in: 0...1, using: &random)]
            try await host.cast(
                Double(Int.random(in: 1...5, using: &random)), on: id, by: voter)
            return Change(item: id, fields: ["votes.score", "votes.count"])
        default:
            guard films[id] != nil else { return Change(item: id, fields: []) }
            try await host.post("text", on: id)
            return Change(item: id, fields: ["comments.count"])
        }
    }

    @Test func `a commit is looked at by the views that it affects, whatever they show`()
        async throws
    {
        let seed =
            ProcessInfo.processInfo.environment["SCREENS_SEED"].flatMap { UInt64($0) }
            ?? .random(in: 1...(.max))
        var random = RepeatableRandom(seed)
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        var films: [String: Item] = [:]
        for number in 0..<150 {
            films["f\(number)"] = .film(
                "f\(number)", ["g\(number % 3)"], rating: Double(number % 10))
        }
        try await host.put(Array(films.values))
        let choices = (0..<20).map { place in
            Choice(
                sort: Self.sorts[place % 5], search: place % 4 == 3 ? "title \(place)" : "",
                limit: place + 1, actor: place % 2 == 0 ? Caller.ann.actor : nil)
        }
        let woken = WokenScreens()
        var clients: [ScreenClient] = []
        for (place, choice) in choices.enumerated() {
            clients.append(
                try await ScreenClient(host, choice.request) { woken.insert(place) })
        }
        for client in clients { try await client.catchUp() }
        var orders = try await orders(choices, host)
        var unaffected = 0
        for step in 0..<250 {
            let before = await host.visits()
            let what = "SCREENS_SEED=\(seed), step \(step)"
            woken.removeAll()
            let change = try await change(&films, &random, host)
            let visits = await host.visits() - before
            let now = try await self.orders(choices, host)
            let affected = choices.indices.filter { place in
                [orders, now].contains {
                    choices[place].isAffected(
                        by: change.fields, at: $0[place].firstIndex(of: change.item))
                }
            }
            orders = now
            try #require(visits <= affected.count, "\(what)")
            // Of the one who voted, too, those that do not show it are left alone.
            try #require(woken.all.isSubset(of: affected), "\(what)")
            unaffected += choices.count - affected.count
            for client in clients { try await client.catchUp() }
            let place = Int.random(in: choices.indices, using: &random)
            let shown = try await page(choices[place], host, limit: choices[place].limit)
            try #require(clients[place].copy.lists["list"] == shown.items, "\(what)")
            try #require(clients[place].copy.sections == shown.sections, "\(what)")
        }
        #expect(unaffected > 1_000, "else this tells nothing")
        try await host.end()
    }

    private func page(_ choice: Choice, _ host: TestRegistry, limit: Int) async throws -> ListPage {
        try await host.list(
            search: choice.search, sort: choice.sort, facets: true, actor: choice.actor,
            limit: limit)
    }

    private func orders(_ choices: [Choice], _ host: TestRegistry) async throws -> [[String]] {
        var orders: [[String]] = []
        for choice in choices {
            orders.append(try await page(choice, host, limit: 1_000).items.map(\.id))
        }
        return orders
    }

    @Test func `a diff has the counts that changed, and no other filter`() async throws {
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

    @Test func `a screen whose rows are found in one turn and sent in another has them all`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<300).map { .film("f\($0)", ["g\($0 % 5)"]) })
        let client = try await ScreenClient(host, ScreenRequest(container: "films", limit: 300))
        try await client.catchUp()
        #expect(client.copy.lists["list"]?.count == 300)
        try await host.end()
    }

    @Test func `a vote wakes each of the voter's screens once, for tally and ballot together`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<30).map { .film("f\($0)", ["g\($0 % 5)"]) })
        let readers = (0..<50).map { _ in EagerReader(host.registry) }
        for reader in readers {
            try await reader.open(host, ScreenRequest(container: "films", actor: Caller.ann.actor))
        }
        try await host.cast(3, on: "f1", by: .ann)
        _ = await host.visits()
        let before = await host.on { _ in readers.map(\.wakes) }
        try await host.cast(4, on: "f1", by: .ann)
        _ = await host.visits()
        let after = await host.on { _ in readers.map(\.wakes) }
        // The first that is read has the view updated, which wakes all who show it.
        #expect(zip(after, before).reduce(0) { $0 + $1.0 - $1.1 } <= readers.count + 1)
        let mine = await host.on { _ in
            readers.map { $0.copy.lists["list"]?.first { $0.id == "f1" }?.votes?.mine }
        }
        #expect(mine == readers.map { _ in 4 })
        try await host.end()
    }
}

/// Which screens were woken.
private final class WokenScreens: Sendable {
    private let places = Mutex<Set<Int>>([])

    var all: Set<Int> { places.withLock { $0 } }

    func insert(_ place: Int) { _ = places.withLock { $0.insert(place) } }

    func removeAll() { places.withLock { $0.removeAll() } }
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
    private(set) var wakes = 0
    /// What delegates said, each with the total of the first list in the same revision; nil: it did not change.
    private(set) var said: [(message: String, total: Int?)] = []

    init(_ registry: Registry) { self.registry = registry }

    @discardableResult
    func open(_ host: TestRegistry, _ request: ScreenRequest) async throws -> ScreenID {
        let reader = try await host.call { registry, reply in
            registry.openScreen(request, by: .ann, wake: { self.wake() }, reply)
        }
        await host.on { _ in
            self.reader = reader
            self.read()
        }
        return reader.screen
    }

    private func wake() {
        wakes += 1
        read()
    }

    private func read() {
        guard let reader else { return }
        do {
            guard let new = try registry.screens.pull(reader).get()
            else { return }
            sequences.append(new.sequence)
            if let message = new.message {
                said.append((message, new.step.lists.first?.total))
            }
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
        await on { !($0.state.homes["films"]?.isIdle ?? true) }
    }

    /// How often a view of the films was looked at, once all follow.
    func visits() async -> Int {
        while await isFollowing() {}
        return await on { $0.state.homes["films"]?.updates.visits ?? 0 }
    }
}
