import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Who has a pattern that a topic matches.
@Suite struct PatternTreeTests {
    private final class Owner { var patterns: Set<TopicPattern> = [] }

    private func pattern(_ random: inout RepeatableRandom) throws -> TopicPattern {
        let words = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            ["a", "b", "c", "*"].randomElement(using: &random) ?? "a"
        }
        let rest = Bool.random(using: &random) ? [">"] : []
        return try TopicPattern((words + rest).joined(separator: "."))
    }

    @Test func `the tree finds those whose patterns match, as owners and patterns come and go`()
        throws
    {
        var random = RepeatableRandom(11)
        let tree = PatternTree<Owner>()
        var owners: [Owner] = []
        var matched = 0
        for _ in 0..<2_000 {
            if owners.count < 30, Bool.random(using: &random) {
                let owner = Owner()
                for _ in 0..<3 { owner.patterns.insert(try pattern(&random)) }
                for pattern in owner.patterns { tree.insert(pattern, of: owner) }
                owners.append(owner)
            } else if let place = owners.indices.randomElement(using: &random) {
                let owner = owners.remove(at: place)
                for pattern in owner.patterns { tree.remove(pattern, of: owner) }
            }
            let topic = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                ["a", "b", "c"].randomElement(using: &random) ?? "a"
            }.joined(separator: ".")
            let found = tree.owners(of: topic).map(ObjectIdentifier.init)
            let expected = owners.filter { $0.patterns.contains { $0.matches(topic) } }
            #expect(Set(found) == Set(expected.map(ObjectIdentifier.init)))
            #expect(found.count == expected.count)
            matched += found.count
        }
        #expect(matched > 1_000)
        for owner in owners { for pattern in owner.patterns { tree.remove(pattern, of: owner) } }
        #expect(tree.isEmpty)
    }
}

/// Subscribers with much to look through.
@Suite(.timeLimit(.minutes(3))) struct LongScanTests {
    @Test func `who looks through the ring in vain does so in turn, and misses nothing`()
        async throws
    {
        let bench = try await BusBench()
        let patterns = try (0..<64).map { try TopicPattern("none.\($0)").text }
        for _ in 0..<1_000 { try await bench.commit("films.votes.cast") }
        try await bench.commit("none.7")
        let ids = try await bench.run { bus in
            try (0..<50).map { _ in
                try bus.subscribe(patterns: patterns, after: 1, seesRestricted: false, wake: {})
            }
        }
        // Not at once: none of them looks at more than its free looks.
        let taken = try await bench.run { bus in
            ids.map { id in if case .later = bus.poll(id, maxBytes: 1 << 20) { true } else { false }
            }
        }
        #expect(taken.allSatisfy { $0 })
        var pulls: [EventLoopFuture<SharedBatch?>] = []
        for id in ids { pulls.append(try await bench.begin(id)) }
        for pull in pulls {
            let batch = try #require(try await pull.arrived())
            #expect(batch.content.notifications.map(\.topic) == ["none.7"])
        }
    }

    @Test func `of one user's looks through the ring another's waits for one`() async throws {
        let bench = try await BusBench()
        let patterns = try (0..<64).map { try TopicPattern("none.\($0)").text }
        for _ in 0..<1_000 { try await bench.commit("films.votes.cast") }
        let order = Mutex<[String]>([])
        let pulls = try await bench.run { bus in
            try (["ann", "ann", "ann", "ann", "bob", "ann"]).map { user in
                let id = try bus.subscribe(
                    patterns: patterns, after: 1, seesRestricted: false, by: user, wake: {})
                let promise = bench.loop.makePromise(of: Void.self)
                bus.pull(id, maxBytes: 1 << 20) { _ in
                    order.withLock { $0.append(user) }
                    promise.succeed()
                }
                return promise.futureResult
            }
        }
        for pull in pulls { try await pull.arrived() }
        #expect(order.withLock { $0 } == ["ann", "bob", "ann", "ann", "ann", "ann"])
    }

    @Test func `users take turns, and each user's work is done in its order`() {
        var turns = UserTurns<Int>()
        for number in 0..<6 { turns.append(number, of: number < 4 ? "ann" : "bob") }
        var done = (0..<3).compactMap { _ in turns.popFirst() }
        turns.append(6, of: "cem")
        while let next = turns.popFirst() { done.append(next) }
        #expect(done == [0, 4, 1, 5, 2, 6, 3])
        #expect(turns.isEmpty && turns.popFirst() == nil)
    }
}
