import AtriumKit
import NIOCore
import TestSupport
import Testing

@testable import Host

/// Random posts, trims, slow and quick subscribers, reads that are held back: each subscriber must
/// see what a plain list of everything says, or be told of the gap.
@Suite(.timeLimit(.minutes(10))) struct BusPropertyTests {
    @Test(arguments: (1...40).map(UInt64.init))
    func `what subscribers receive is what a plain list says`(seed: UInt64) async throws {
        let story = try await Story(seed)
        for _ in 0..<400 { try await story.step() }
        try await story.finish()
    }
}

/// One run: the bus, and the list that it is compared with.
private final class Story {
    private struct Posted {
        let name: String
        let topic: String
        let sequence: Int64?
        /// The last durable sequence at the time.
        let order: Int64
    }

    private struct Subscriber {
        let id: SubscriptionID
        let tag: Int
        let pattern: TopicPattern
        let after: Int64
        /// How much had been posted when it subscribed.
        let start: Int
        var names: [String] = []
        var gaps: [SubscriptionBatch.Gap] = []
        var expectedWakes: Int?
        var pending: EventLoopFuture<SharedBatch?>?
        var cursor: Int64
    }

    private static let words = ["a", "b", "c"]
    private let seed: UInt64
    private let bench: BusBench
    private var random: RepeatableRandom
    private var list: [Posted] = []
    private var subscribers: [Subscriber] = []
    private var sequence: Int64 = 0
    private var isHeld = false

    init(_ seed: UInt64) async throws {
        self.seed = seed
        random = RepeatableRandom(seed)
        bench = try await BusBench(ringCount: 12, ringBytes: 3_000, batchCount: 5)
    }

    func step() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: try await post()
        case 45..<50: try await post(burst: Int.random(in: 5...30, using: &random))
        case 50..<54: try await subscribe()
        case 54..<57: try await hold()
        case 57..<58: bench.past.trim(through: max(0, sequence - 40))
        case 58..<60: try await advance()
        default: try await pull()
        }
    }

    func finish() async throws {
        bench.past.release()
        isHeld = false
        for index in subscribers.indices {
            if let pending = subscribers[index].pending {
                take(try await pending.arrived()?.content, index)
            }
            while let batch = try await bench.pull(subscribers[index].id) { take(batch, index) }
            check(subscribers[index])
        }
    }

    private func post(burst: Int = 1) async throws {
        for _ in 0..<burst {
            let topic = word() + "." + word()
            let name = "n\(list.count)"
            guard Bool.random(using: &random) else {
                try await transient(topic, name)
                continue
            }
            sequence += 1
            let notification = make(topic, name, sequence: sequence)
            bench.past.append(notification)
            try await bench.run { $0.post(notification) }
            list.append(Posted(name: name, topic: topic, sequence: sequence, order: sequence))
            expectWakes(topic)
        }
    }

    private func transient(_ topic: String, _ name: String) async throws {
        let notification = make(topic, name, sequence: nil)
        try await bench.run { $0.post(notification) }
        list.append(Posted(name: name, topic: topic, sequence: nil, order: sequence))
        expectWakes(topic)
    }

    private func make(_ topic: String, _ name: String, sequence: Int64?) -> BusNotification {
        BusNotification(
            sequence: sequence, time: Timestamp(milliseconds: 0), topic: topic,
            payload: Array(#"{"name":"\#(name)"}"#.utf8))
    }

    /// An entry without a notification: a hole in the sequences.
    private func advance() async throws {
        sequence += 1
        try await bench.run { [sequence] in $0.advance(to: sequence) }
    }

    private func subscribe() async throws {
        guard subscribers.count < 12 else { return }
        let forms = [">", "a.>", "*.b", "c.c", "b.*"]
        let pattern = forms.randomElement(using: &random) ?? ">"
        let after =
            Bool.random(using: &random) ? nil : Int64.random(in: 0...sequence, using: &random)
        let tag = subscribers.count
        let id = try await bench.subscribe(pattern, after: after, tag: tag)
        subscribers.append(
            Subscriber(
                id: id, tag: tag, pattern: try TopicPattern(pattern), after: after ?? sequence,
                start: list.count, cursor: after ?? sequence))
    }

    private func hold() async throws {
        isHeld.toggle()
        guard !isHeld else { return bench.past.hold() }
        bench.past.release()
        for index in subscribers.indices {
            guard let pending = subscribers[index].pending else { continue }
            subscribers[index].pending = nil
            take(try await pending.arrived()?.content, index)
        }
    }

    private func pull() async throws {
        guard !subscribers.isEmpty else { return }
        let index = Int.random(in: subscribers.indices, using: &random)
        // One pull at a time, as a connection does it.
        guard subscribers[index].pending == nil else { return }
        let reads = bench.past.reads
        let future = try await bench.begin(
            subscribers[index].id, maxBytes: Int.random(in: 1...2_000, using: &random))
        if isHeld, bench.past.reads > reads {
            subscribers[index].pending = future
        } else {
            take(try await future.arrived()?.content, index)
        }
    }

    private func take(_ batch: SubscriptionBatch?, _ index: Int) {
        guard let batch else {
            subscribers[index].expectedWakes = bench.wakes(subscribers[index].tag)
            return
        }
        subscribers[index].names += batch.notifications.map { note in
            String(decoding: note.payload.dropFirst(9).dropLast(2), as: UTF8.self)
        }
        if let gap = batch.gap {
            #expect(gap.from <= gap.to, "seed \(seed)")
            subscribers[index].gaps.append(gap)
        }
        #expect(batch.sequence >= subscribers[index].cursor, "seed \(seed): a cursor goes back")
        subscribers[index].cursor = batch.sequence
        #expect(batch.notifications.count <= 5, "seed \(seed)")
    }

    /// Who was told that there is nothing is woken by the first that matches, and by no other.
    private func expectWakes(_ topic: String) {
        for (index, subscriber) in subscribers.enumerated() {
            guard let expected = subscriber.expectedWakes, subscriber.pending == nil else {
                continue
            }
            let isWoken = subscriber.pattern.matches(topic)
            #expect(
                bench.wakes(subscriber.tag) == expected + (isWoken ? 1 : 0),
                "seed \(seed), subscriber \(subscriber.tag)")
            if isWoken { subscribers[index].expectedWakes = nil }
        }
    }

    private func check(_ subscriber: Subscriber) {
        let wanted = list.enumerated().filter { index, posted in
            subscriber.pattern.matches(posted.topic)
                && (posted.sequence.map { $0 > subscriber.after } ?? (index >= subscriber.start))
        }.map(\.element)
        let got = Set(subscriber.names)
        #expect(got.count == subscriber.names.count, "seed \(seed): told twice")
        #expect(
            wanted.map(\.name).filter(got.contains) == subscriber.names,
            "seed \(seed): another order, or what is not its own")
        let missing = wanted.filter { !got.contains($0.name) }
        for posted in missing {
            let reason: SubscriptionBatch.Gap.Reason =
                posted.sequence == nil ? .transient : .trimmed
            let isTold = subscriber.gaps.contains {
                $0.reason == reason && ($0.from...$0.to).contains(posted.order)
            }
            #expect(
                isTold,
                "seed \(seed), \(subscriber): \(posted) is lost in silence")
        }
        for gap in subscriber.gaps where gap.reason == .transient {
            #expect(
                missing.contains { $0.sequence == nil && (gap.from...gap.to).contains($0.order) },
                "seed \(seed): a gap where nothing is missing")
        }
    }

    private func word() -> String { Self.words.randomElement(using: &random) ?? "a" }
}
