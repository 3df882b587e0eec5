import AtriumKit
import NIOCore
import Synchronization
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct ObserverTests {
    private let seen = Seen()

    @Test func `an observer hears what matches, once, in order, without the restricted part`()
        async throws
    {
        let bench = try await BusBench()
        try await bench.run { [seen] bus in
            let id = bus.observe(try TopicPattern("a.>")) { seen.append($0) }
            bus.observe(try TopicPattern("*.1"), by: id)
            bus.post(note("a.1"))
            bus.post(note("b.1", sequence: 1))
            bus.post(note("b.2"))
            bus.post(
                BusNotification(
                    time: Timestamp(milliseconds: 9), topic: "a.2", actor: ActorID(1),
                    payload: Array(#"{"n":1}"#.utf8), restricted: Array(#"{"secret":1}"#.utf8)))
            #expect(seen.all.isEmpty, "never from within post")
        }
        try await seen.reaches(3)
        #expect(seen.all.map(\.topic) == ["a.1", "b.1", "a.2"])
        #expect(seen.all[1].sequence == 1)
        #expect(seen.all[2].payload == ["n": 1])
    }

    @Test func `an observer that was removed hears nothing more, also not what waits`() async throws
    {
        let bench = try await BusBench()
        try await bench.run { [seen] bus in
            let gone = bus.observe(try TopicPattern(">")) { _ in Issue.record("it was removed") }
            _ = bus.observe(try TopicPattern(">")) { seen.append($0) }
            bus.post(note("a.1"))
            bus.stopObserving(gone)
        }
        try await seen.reaches(1)
    }

    @Test func `two observers that answer each other leave the loop to others`() async throws {
        let bench = try await BusBench()
        // They go on until somebody else gets a turn to stop them.
        let talk = Talk()
        try await bench.run { bus in
            for (mine, other) in [("ping", "pong"), ("pong", "ping")] {
                _ = bus.observe(try TopicPattern(mine)) { [unowned bus] _ in
                    if talk.goesOn() { bus.post(note(other)) }
                }
            }
            bus.post(note("ping"))
        }
        try await bench.run { _ in talk.stop() }
        #expect(talk.wasStopped)
    }
}

/// A talk that ends when it is stopped, or after very much was said.
private final class Talk: Sendable {
    private let state = Mutex((left: 1_000_000, isStopped: false))

    var wasStopped: Bool { state.withLock { $0.left > 0 } }

    func goesOn() -> Bool {
        state.withLock { state in
            if !state.isStopped { state.left -= 1 }
            return !state.isStopped && state.left > 0
        }
    }

    func stop() { state.withLock { $0.isStopped = true } }
}

/// What was heard, with a way to wait for it.
final class Seen: Sendable {
    private let notifications = Mutex<[AtriumKit.Notification]>([])

    var all: [AtriumKit.Notification] { notifications.withLock { $0 } }

    var count: Int { notifications.withLock { $0.count } }

    func append(_ notification: AtriumKit.Notification) {
        notifications.withLock { $0.append(notification) }
    }

    func reaches(_ count: Int) async throws {
        while self.count < count { try await Task.sleep(for: .milliseconds(1)) }
        #expect(self.count == count)
    }
}
