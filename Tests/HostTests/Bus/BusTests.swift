import AtriumKit
import NIOCore
import Testing

@testable import Host

extension SubscriptionBatch {
    /// The topics, each with its sequence where it has one.
    var summary: [String] {
        notifications.map { note in note.sequence.map { "\(note.topic)#\($0)" } ?? note.topic }
    }
}

@Suite(.timeLimit(.minutes(3))) struct BusTests {
    @Test func `the first pull answers at once, even with nothing, and the next one waits`()
        async throws
    {
        let bench = try await BusBench()
        let id = try await bench.subscribe("films.>")
        let first = try #require(try await bench.pull(id))
        #expect(first == SubscriptionBatch(notifications: [], sequence: 0, live: true))
        #expect(try await bench.pull(id) == nil)
        try await bench.post("films.a", "films.b")
        #expect(bench.wakes() == 1, "woken once, however much there is")
        #expect(try await bench.pull(id)?.summary == ["films.a", "films.b"])
        #expect(try await bench.pull(id) == nil)
        try await bench.post("other.a")
        #expect(bench.wakes() == 1, "not woken for what is not its own")
    }

    @Test func `durable and transient notifications keep one order`() async throws {
        let bench = try await BusBench()
        let id = try await bench.subscribe(">")
        for round in 0..<3 {
            try await bench.commit("d.\(round)")
            try await bench.post("t.\(round)")
        }
        let batch = try #require(try await bench.pull(id))
        #expect(batch.summary == ["d.0#1", "t.0", "d.1#2", "t.1", "d.2#3", "t.2"])
        #expect(batch.sequence == 3 && batch.live && batch.gap == nil)
    }

    @Test func `without after it begins now, with after behind that sequence`() async throws {
        let bench = try await BusBench()
        try await bench.commit("a.1", "a.2", "b.3", "a.4")
        try await bench.post("a.lost")
        let now = try await bench.subscribe("a.>")
        let later = try await bench.subscribe("a.>", after: 1)
        let all = try await bench.subscribe("a.*", "b.*", after: 0)
        try await bench.commit("a.5")
        #expect(try await bench.pull(now)?.summary == ["a.5#5"])
        #expect(try await bench.pull(later)?.summary == ["a.2#2", "a.4#4", "a.5#5"])
        #expect(
            try await bench.pull(all)?.summary == ["a.1#1", "a.2#2", "b.3#3", "a.4#4", "a.5#5"])
        #expect(bench.past.reads == 0, "all of it is in the ring")
    }

    @Test func `the stored past comes first and the ring goes on behind it`() async throws {
        let stored = (1...1_200).map { note("a.x", sequence: $0) }
        let bench = try await BusBench(stored: stored)
        let id = try await bench.subscribe("a.>", after: 100)
        try await bench.commit("a.new")
        var sequences: [Int64] = []
        var lives: [Bool] = []
        while let batch = try await bench.pull(id) {
            #expect(batch.notifications.count <= 500)
            #expect(batch.notifications.last?.sequence == batch.sequence)
            sequences += batch.notifications.compactMap(\.sequence)
            lives.append(batch.live)
        }
        #expect(sequences == Array(101...1_201))
        #expect(lives == [false, false, true])
    }

    @Test
    func
        `a slow subscriber loses no durable notification and receives a gap for lost transient ones`()
        async throws
    {
        let bench = try await BusBench(ringCount: 4)
        let id = try await bench.subscribe("a.>")
        let idle = try await bench.subscribe("b.>", tag: 1)
        _ = try await bench.pull(idle)
        _ = try await bench.pull(idle)
        try await bench.commit("a.1")
        try await bench.post("a.t1", "c.t")
        try await bench.commit("a.2", "c.3")
        try await bench.post("a.t2")
        try await bench.commit("a.4", "a.5")
        var seen: [String] = []
        var gaps: [SubscriptionBatch.Gap] = []
        while let batch = try await bench.pull(id) {
            seen += batch.summary
            batch.gap.map { gaps.append($0) }
        }
        #expect(seen == ["a.1#1", "a.2#2", "a.t2", "a.4#4", "a.5#5"])
        #expect(gaps == [.init(from: 1, to: 1, reason: .transient)])
        let reads = bench.past.reads
        try await bench.post("b.1")
        #expect(bench.wakes(1) == 1)
        #expect(try await bench.pull(idle)?.summary == ["b.1"])
        #expect(bench.past.reads == reads, "who waits at the end never reads the store")
    }

    @Test func `what was trimmed is delivered as a gap, before what is left`() async throws {
        let bench = try await BusBench(stored: (1...20).map { note("a.x", sequence: $0) })
        bench.past.trim(through: 12)
        let id = try await bench.subscribe("a.>", after: 5)
        let batch = try #require(try await bench.pull(id))
        #expect(batch.gap == .init(from: 6, to: 12, reason: .trimmed))
        #expect(batch.notifications.compactMap(\.sequence) == Array(13...20))
        let recent = try await bench.subscribe("a.>", after: 12)
        #expect(try await bench.pull(recent)?.gap == nil)
    }

    @Test func `a cursor ahead of the last sequence is a gap and not silence`() async throws {
        let bench = try await BusBench(stored: [note("a.x", sequence: 7)])
        let id = try await bench.subscribe("a.>", after: 900)
        let batch = try #require(try await bench.pull(id))
        #expect(batch.gap == .init(from: 8, to: 900, reason: .trimmed))
        #expect(batch.sequence == 7 && batch.live)
        try await bench.commit("a.8")
        #expect(try await bench.pull(id)?.summary == ["a.8#8"])
    }

    @Test func `a cursor of another store is a gap, whatever its number`() async throws {
        let bench = try await BusBench(stored: (1...7).map { note("a.x", sequence: $0) })
        for (after, to): (Int64, Int64) in [(0, 7), (3, 7), (7, 7), (900, 900)] {
            let id = try await bench.run { bus in
                try bus.subscribe(
                    patterns: ["a.>"], after: after, isOfOther: true, seesRestricted: false
                ) {}
            }
            let batch = try #require(try await bench.pull(id))
            #expect(batch.gap == .init(from: 1, to: to, reason: .replaced))
            #expect(batch.notifications.isEmpty && batch.sequence == 7 && batch.live)
        }
        let now = try await bench.run { bus in
            try bus.subscribe(
                patterns: ["a.>"], after: nil, isOfOther: true, seesRestricted: false
            ) {}
        }
        #expect(try await bench.pull(now)?.gap == nil, "who begins has no cursor")
    }

    @Test func `a batch keeps to its bytes, and one notification always fits`() async throws {
        let bench = try await BusBench()
        let id = try await bench.subscribe("a.>")
        try await bench.run { bus in
            for _ in 0..<3 { bus.post(note("a.big", padding: 1_000)) }
        }
        for round in 0..<3 {
            let batch = try #require(try await bench.pull(id, maxBytes: 10))
            #expect(batch.notifications.count == 1)
            #expect(batch.live == (round == 2))
        }
        #expect(try await bench.pull(id) == nil)
    }

    @Test func `the ring keeps to its bytes and the newest always stays`() async throws {
        let bench = try await BusBench(ringBytes: 5_000)
        try await bench.run { bus in
            for _ in 0..<100 { bus.post(note("a.x", padding: 400)) }
            #expect(bus.ring.count < 12)
            bus.post(note("a.huge", padding: 100_000))
            #expect(bus.ring.count == 1)
        }
    }

    @Test func `the restricted part is for those alone who may see it`() async throws {
        let bench = try await BusBench()
        let anyone = try await bench.subscribe(">")
        let moderator = try await bench.subscribe(">", seesRestricted: true)
        try await bench.run { bus in
            func post(_ payload: String, _ restricted: String?, by actor: Int64?) {
                bus.post(
                    BusNotification(
                        time: Timestamp(milliseconds: 0), topic: "a.b",
                        actor: actor.map(ActorID.init), payload: Array(payload.utf8),
                        restricted: restricted.map { Array($0.utf8) }))
            }
            post(#"{"a":1}"#, #"{"value":4}"#, by: 1_000)
            post("{}", #"{"value":4}"#, by: 1_000)
            post(#"{"a":1}"#, "{}", by: 1_000)
            post(#"{"a":1}"#, nil, by: 1_000)
            post("{}", nil, by: 404)
        }
        #expect(
            try await seen(anyone, bench) == [
                #"- {"a":1}"#, "- {}", #"- {"a":1}"#, #"unix:1000 {"a":1}"#, "- {}",
            ])
        #expect(
            try await seen(moderator, bench) == [
                #"unix:1000 {"a":1,"value":4}"#, #"unix:1000 {"value":4}"#,
                #"unix:1000 {"a":1}"#, #"unix:1000 {"a":1}"#, "- {}",
            ])
    }

    @Test func `a past that can't be read fails the pull, and the next one tries again`()
        async throws
    {
        let bench = try await BusBench(stored: (1...3).map { note("a.x", sequence: $0) })
        let id = try await bench.subscribe("a.>", after: 0)
        bench.past.trim(through: 1)
        bench.past.fail(with: .storeUnavailable(reason: "broken", retryAfter: 1))
        await #expect(throws: HostError.storeUnavailable(reason: "broken", retryAfter: 1)) {
            try await bench.pull(id)
        }
        bench.past.fail(with: nil)
        let batch = try #require(try await bench.pull(id))
        #expect(batch.summary == ["a.x#2", "a.x#3"])
        #expect(batch.gap == .init(from: 1, to: 1, reason: .trimmed))
    }

    @Test func `a pull during a read answers nil, and the subscriber is woken afterwards`()
        async throws
    {
        let bench = try await BusBench(stored: [note("a.x", sequence: 1)])
        let id = try await bench.subscribe("a.>", after: 0)
        bench.past.hold()
        let first = try await bench.begin(id)
        #expect(try await bench.pull(id) == nil)
        try await bench.commit("a.2")
        bench.past.release()
        #expect(try await first.arrived()?.content.summary == ["a.x#1", "a.2#2"])
        try await bench.run { _ in }
        #expect(bench.wakes() == 1)
        #expect(try await bench.pull(id) == nil)
    }

    @Test func `a subscription that ends during a read is answered once, with nil`() async throws {
        let bench = try await BusBench(stored: [note("a.x", sequence: 1)])
        let id = try await bench.subscribe("a.>", after: 0)
        bench.past.hold()
        let pull = try await bench.begin(id)
        try await bench.run { $0.unsubscribe(id) }
        bench.past.release()
        #expect(try await pull.arrived() == nil)
        #expect(try await bench.pull(id) == nil)
        #expect(try await bench.run { $0.subscriptionCount } == 0)
    }

    @Test func `patterns that make no sense are refused`() async throws {
        let bench = try await BusBench()
        for patterns in [[], ["a..b"], Array(repeating: "a", count: 65)] as [[String]] {
            await #expect(throws: HostError.self) {
                try await bench.run {
                    _ = try $0.subscribe(patterns: patterns, after: nil, seesRestricted: false) {}
                }
            }
        }
    }

    private func seen(_ id: SubscriptionID, _ bench: BusBench) async throws -> [String] {
        let batch = try #require(try await bench.pull(id))
        return batch.notifications.map {
            "\($0.actor ?? "-") " + String(decoding: $0.payload, as: UTF8.self)
        }
    }
}
