import AtriumKit
import NIOCore
import NIOPosix
import Store
import Synchronization
import TestSupport

@testable import Host

/// A bus on a real event loop, over a past that the test can trim, fail and hold back.
final class BusBench: Sendable {
    let loop: any EventLoop
    let past: FakePast
    private let bound: NIOLoopBoundBox<Bus>
    private let woken = Mutex<[Int: Int]>([:])

    init(
        ringCount: Int = 4_096, ringBytes: Int = 4 << 20, batchCount: Int = 500,
        stored: [BusNotification] = []
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let past = FakePast(stored)
        self.loop = loop
        self.past = past
        bound = try await loop.submit {
            var limits = Bus.Limits()
            limits.ringCount = ringCount
            limits.ringBytes = ringBytes
            limits.batchCount = batchCount
            let bus = Bus(
                loop: loop, lastSequence: stored.last?.sequence ?? 0, limits: limits,
                backlog: past.read, names: { $0.number == 404 ? nil : "unix:\($0.number)" })
            return NIOLoopBoundBox(bus, eventLoop: loop)
        }.get()
    }

    /// Does something on the loop.
    func run<T: Sendable>(_ body: @escaping @Sendable (Bus) throws -> T) async throws -> T {
        let bound = bound
        return try await loop.submit { try body(bound.value) }.get()
    }

    /// Subscribes; `wakes(tag)` then counts how often it was woken.
    func subscribe(
        _ patterns: String..., after: Int64? = nil, seesRestricted: Bool = false, tag: Int = 0
    ) async throws -> SubscriptionID {
        try await run { bus in
            try bus.subscribe(patterns: patterns, after: after, seesRestricted: seesRestricted) {
                self.noteWake(tag)
            }
        }
    }

    func noteWake(_ tag: Int) { woken.withLock { $0[tag, default: 0] += 1 } }

    func wakes(_ tag: Int = 0) -> Int { woken.withLock { $0[tag] ?? 0 } }

    func pull(_ id: SubscriptionID, maxBytes: Int = 1 << 20) async throws -> SubscriptionBatch? {
        try await begin(id, maxBytes: maxBytes).arrived()?.content
    }

    /// A pull whose answer may come later.
    func begin(
        _ id: SubscriptionID, maxBytes: Int = 1 << 20
    ) async throws -> EventLoopFuture<SharedBatch?> {
        let promise = loop.makePromise(of: SharedBatch?.self)
        try await run { bus in
            bus.pull(id, maxBytes: maxBytes) { promise.completeWith($0.mapError { $0 }) }
        }
        return promise.futureResult
    }

    /// Posts durable notifications, one for each topic, and keeps them as the store would.
    func commit(_ topics: String...) async throws {
        for topic in topics {
            try await run { bus in
                let notification = note(topic, sequence: bus.lastSequence + 1)
                self.past.append(notification)
                bus.post(notification)
            }
        }
    }

    func post(_ topics: String...) async throws {
        try await run { bus in for topic in topics { bus.post(note(topic)) } }
    }
}

/// A notification whose payload is its topic and its sequence.
func note(_ topic: String, sequence: Int64? = nil, padding: Int = 0) -> BusNotification {
    let text = String(repeating: "x", count: padding)
    return BusNotification(
        sequence: sequence, time: Timestamp(milliseconds: 0), topic: topic,
        payload: Array(#"{"topic":"\#(topic)\#(text)"}"#.utf8))
}

/// What is stored, as a list.
final class FakePast: Sendable {
    private struct State {
        var stored: [BusNotification]
        var trimmedThrough: Int64 = 0
        var failure: HostError?
        var isHeld = false
        var held: [@Sendable () -> Void] = []
        var reads = 0
        var said: [(texts: [RecordKey: CommentText], asOf: Int64)] = []
    }

    private let state: Mutex<State>

    init(_ stored: [BusNotification]) { state = Mutex(State(stored: stored)) }

    var reads: Int { state.withLock { $0.reads } }

    func append(_ notification: BusNotification) {
        state.withLock { $0.stored.append(notification) }
    }

    func trim(through sequence: Int64) {
        state.withLock { state in
            state.trimmedThrough = max(state.trimmedThrough, sequence)
            state.stored.removeAll { ($0.sequence ?? 0) <= sequence }
        }
    }

    /// What the following reads find that comments say.
    func say(_ said: [(texts: [RecordKey: CommentText], asOf: Int64)]) {
        state.withLock { $0.said = said }
    }

    func fail(with error: HostError?) { state.withLock { $0.failure = error } }

    /// Keeps reads from being answered until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for read in held { read() }
    }

    var read: BacklogReader {
        { request, done in
            let answer: @Sendable () -> Void = { done(self.answer(request)) }
            let isHeld = self.state.withLock { state in
                state.reads += 1
                if state.isHeld { state.held.append(answer) }
                return state.isHeld
            }
            if !isHeld { answer() }
        }
    }

    private func answer(_ request: BacklogRequest) -> Result<Backlog, HostError> {
        state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            var backlog = Backlog(
                notifications: [], through: request.through, trimmedThrough: state.trimmedThrough)
            if !state.said.isEmpty { (backlog.texts, backlog.asOf) = state.said.removeFirst() }
            for notification in state.stored {
                let sequence = notification.sequence ?? 0
                guard sequence > request.after, sequence <= request.through else { continue }
                guard request.patterns.contains(where: { $0.matches(notification.topic) }) else {
                    continue
                }
                if backlog.notifications.count == request.limit {
                    backlog.through = (backlog.notifications.last?.sequence) ?? 0
                    break
                }
                backlog.notifications.append(notification)
            }
            return .success(backlog)
        }
    }
}

extension EventLoopFuture where Value: Sendable {
    /// Its value, for which whoever is cancelled waits no longer.
    func arrived() async throws -> Value { try await answer { whenComplete($0) } }
}
