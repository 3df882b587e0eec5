import AtriumKit
import NIOCore
import Testing

@testable import Host

/// Subscribers who see the same share what they are told.
@Suite(.timeLimit(.minutes(3))) struct BusSharingTests {
    @Test func `subscribers of the same topics share a batch, which is encoded once`() async throws
    {
        let bench = try await BusBench()
        let one = try await waiting(bench, "a.>", "b.>")
        let other = try await waiting(bench, "b.>", "a.>")
        try await bench.post("a.1", "b.2")
        let batch = try #require(try await bench.begin(one).arrived())
        #expect(try await bench.begin(other).arrived() === batch)
        #expect(batch.content.summary == ["a.1", "b.2"])
        let encoded = batch.encoded { _ in ByteBuffer(string: "made") }
        #expect(batch.encoded { _ in ByteBuffer(string: "made again") } == encoded)
    }

    @Test func `whoever sees more receives more, at the same time`() async throws {
        let bench = try await BusBench()
        let anyone = try await waiting(bench, ">")
        let moderator = try await bench.subscribe(">", seesRestricted: true)
        try await bench.run { bus in
            bus.post(
                BusNotification(
                    time: Timestamp(milliseconds: 0), topic: "a.b", actor: ActorID(7),
                    payload: Array(#"{"a":1}"#.utf8), restricted: Array(#"{"b":2}"#.utf8)))
        }
        for (id, actor, payload) in [
            (anyone, nil, #"{"a":1}"#), (moderator, "unix:7", #"{"a":1,"b":2}"#),
        ] as [(SubscriptionID, String?, String)] {
            let told = try #require(try await bench.pull(id)?.notifications.first)
            #expect(told.actor == actor)
            #expect(told.payload == Array(payload.utf8))
        }
    }

    @Test func `a slow one receives, in order, the batches that quick ones received`() async throws
    {
        let bench = try await BusBench()
        let quick = try await waiting(bench, "a.>")
        let slow = try await waiting(bench, "a.>")
        var told: [SharedBatch] = []
        for round in 0..<4 {
            try await bench.post("a.\(round)", "b.x", "a.\(round)", "b.y")
            told.append(try #require(try await bench.begin(quick).arrived()))
            #expect(try await bench.pull(quick) == nil)
        }
        for batch in told { #expect(try await bench.begin(slow).arrived() === batch) }
        #expect(try await bench.pull(slow) == nil)
        #expect(bench.past.reads == 0)
        try await expectNothingKept(bench)
    }

    @Test func `one that joins within a turn receives what follows, and the rest share again`()
        async throws
    {
        let bench = try await BusBench()
        let old = try await waiting(bench, "a.>")
        let young = try await bench.run { bus in
            bus.post(note("a.1"))
            let id = try bus.subscribe(
                patterns: ["a.>"], after: nil, seesRestricted: false, wake: {})
            bus.post(note("a.2"))
            return id
        }
        #expect(try await bench.pull(old)?.summary == ["a.1", "a.2"])
        let first = try #require(try await bench.pull(young))
        #expect(first.summary == ["a.2"] && first.live)
        try await bench.post("a.3")
        let shared = try #require(try await bench.begin(old).arrived())
        #expect(shared.content.summary == ["a.3"])
        #expect(try await bench.begin(young).arrived() === shared)
    }

    @Test func `who pulls before it is woken receives nothing twice`() async throws {
        let bench = try await BusBench()
        let id = try await waiting(bench, "a.>")
        _ = try await waiting(bench, "a.>", tag: 1)
        let told = try await bench.run { bus in
            var told: [String] = []
            func pull() {
                while case .batch(let batch) = bus.poll(id, maxBytes: 1_000) {
                    told += batch.content.summary
                }
            }
            bus.post(note("a.1"))
            pull()
            bus.post(note("b.2"))
            bus.post(note("a.3"))
            pull()
            bus.post(note("a.4"))
            return told
        }
        #expect(told == ["a.1", "a.3"])
        #expect(try await bench.pull(id)?.summary == ["a.4"])
    }

    @Test func `a subscriber is woken once until it pulls, and not once it has ended`()
        async throws
    {
        let bench = try await BusBench()
        _ = try await waiting(bench, "a.>")
        let ended = try await waiting(bench, "a.>", tag: 1)
        try await bench.run { bus in
            bus.unsubscribe(ended)
            for _ in 0..<100 { bus.post(note("a.x")) }
        }
        #expect(bench.wakes() == 1)
        #expect(bench.wakes(1) == 0)
    }

    @Test func `one that wants the past does not receive what others received from the same place`()
        async throws
    {
        let bench = try await BusBench()
        let first = try await waiting(bench, "a.>")
        let slow = try await waiting(bench, "a.>")
        try await bench.commit("a.1")
        try await bench.post("a.passing")
        // Of transient ones it is told those since it subscribed.
        let late = try await bench.subscribe("a.>", after: 0)
        try await bench.commit("a.2")
        #expect(try await bench.pull(late)?.summary == ["a.1#1", "a.2#2"])
        #expect(try await bench.pull(slow)?.summary == ["a.1#1", "a.passing", "a.2#2"])
        #expect(try await bench.pull(first)?.summary == ["a.1#1", "a.passing", "a.2#2"])
    }

    @Test func `what is kept for slow ones has bounds, and goes with the last of them`()
        async throws
    {
        let bench = try await BusBench(ringBytes: 4_000)
        let quick = try await waiting(bench, "a.>")
        let slow = try await waiting(bench, "a.>")
        for _ in 0..<100 {
            try await bench.post("a.x")
            #expect(try await bench.pull(quick)?.summary == ["a.x"])
            #expect(try await bench.pull(quick) == nil)
            #expect(try await bench.run { $0.sharedBytesLeft } >= 0)
        }
        #expect(try await bench.run { $0.sharedBytesLeft } < 4_000)
        try await bench.run { $0.unsubscribe(slow) }
        #expect(try await bench.run { $0.sharedBytesLeft } == 4_000)
        try await bench.run { $0.unsubscribe(quick) }
        #expect(try await bench.run { $0.groups.isEmpty })
    }

    /// A subscriber that was told everything, and waits to be woken.
    private func waiting(
        _ bench: BusBench, _ patterns: String..., tag: Int = 0
    ) async throws -> SubscriptionID {
        let id = try await bench.run { bus in
            try bus.subscribe(patterns: patterns, after: nil, seesRestricted: false) {
                bench.noteWake(tag)
            }
        }
        #expect(try await bench.pull(id)?.notifications == [])
        #expect(try await bench.pull(id) == nil)
        return id
    }

    private func expectNothingKept(_ bench: BusBench) async throws {
        #expect(try await bench.run { $0.sharedBytesLeft == $0.limits.ringBytes })
    }
}
