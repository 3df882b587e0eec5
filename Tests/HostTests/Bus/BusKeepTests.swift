import NIOCore
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct BusKeepTests {
    @Test func `who received everything goes on behind all of it, and receives nothing`()
        async throws
    {
        let bench = try await BusBench()
        let id = try await bench.subscribe("films.>")
        try await bench.commit("films.a")
        _ = try await bench.pull(id)
        #expect(try await bench.pull(id) == nil)
        // Not for this subscriber: it may be trimmed without a gap for it.
        try await bench.commit("songs.a", "songs.b")
        let state = try #require(try await bench.run { $0.state(of: id) })
        #expect(state == SubscriptionState(patterns: ["films.>"], after: 3))
        let resumed = try await bench.resume(state)
        #expect(try await bench.pull(resumed) == nil)
        try await bench.commit("films.b")
        #expect(try await bench.pull(resumed)?.notifications.map(\.topic) == ["films.b"])
    }

    @Test func `what was not delivered yet is delivered after, and what is not kept is a gap`()
        async throws
    {
        let bench = try await BusBench()
        let id = try await bench.subscribe("films.>")
        _ = try await bench.pull(id)
        try await bench.commit("songs.a", "films.a")
        try await bench.post("films.passing")
        try await bench.commit("films.b")
        let state = try #require(try await bench.run { $0.state(of: id) })
        #expect(state.after == 1, "the first one was not for it")
        #expect(state.gaps == [.init(from: 2, to: 2, reason: .transient)])
        try await bench.run { $0.unsubscribe(id) }
        let batch = try #require(try await bench.pull(try await bench.resume(state)))
        #expect(batch.gap == .init(from: 2, to: 2, reason: .transient))
        #expect(batch.notifications.map(\.sequence) == [2, 3])
    }

    @Test func `on another store everything so far is a gap, and nothing of it is delivered`()
        async throws
    {
        let bench = try await BusBench(stored: (1...3).map { note("films.a", sequence: $0) })
        let state = SubscriptionState(patterns: ["films.>"], after: 2)
        let resumed = try await bench.run {
            try $0.resume(state, isOfOther: true, seesRestricted: false) {}
        }
        let batch = try #require(try await bench.pull(resumed))
        #expect(batch.gap == .init(from: 1, to: 3, reason: .replaced))
        #expect(batch.notifications.isEmpty && batch.live)
    }

    @Test func `while the past is read nobody knows where a subscriber stands`() async throws {
        let bench = try await BusBench(stored: [note("films.a", sequence: 1)])
        let id = try await bench.subscribe("films.>", after: 0)
        bench.past.hold()
        let pulled = try await bench.begin(id)
        #expect(try await bench.run { $0.state(of: id) } == nil)
        bench.past.release()
        _ = try await pulled.arrived()
        #expect(try await bench.run { $0.state(of: id) }?.after == 1)
    }
}

extension BusBench {
    fileprivate func resume(_ state: SubscriptionState) async throws -> SubscriptionID {
        try await run { try $0.resume(state, seesRestricted: false) {} }
    }
}
