import AtriumKit
import Host
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

/// What a source in a worker tells by itself, at any size.
@Suite(.timeLimit(.minutes(3)), .serialized) struct `Items that a worker pours out` {
    private static let count = 100_000

    @Test func `are taken in a few at a time, and others are served meanwhile`() async throws {
        let host = try await IsolatedHost(delegate: Meter.self)
        #expect(try await host.put("pour-\(Self.count)").inserted == 1)
        var seen: Set<Int> = []
        var votes = 0
        try await until {
            votes += 1
            _ = try await host.vote(4, by: votes)
            let total = try await host.total()
            seen.insert(total)
            return total == Self.count + 1
        }
        #expect(seen.count > 2, "nobody was served meanwhile: \(seen)")
        let told = Meter.told.withLock { $0 }
        #expect(told.calls.reduce(0, +) == Self.count + 1)
        #expect(told.calls.max().map { $0 <= 128 } == true)
        #expect(told.turns.max().map { $0 <= 10_000 } == true)
        try await host.stop()
    }
}

/// Counts the items that it is told of, by call and by turn of the loop.
private final class Meter: ContainerDelegate {
    struct Told: Sendable {
        var calls: [Int] = []
        var turns: [Int] = []
        var isTurn = false
    }

    static let told = Mutex(Told())

    override func contents(_ component: ComponentReference, didChange change: ContentChange) {
        super.contents(component, didChange: change)
        guard case .insert(let items) = change else { return }
        let isFirst = Self.told.withLock { told in
            told.calls.append(items.count)
            if !told.isTurn { told.turns.append(0) }
            told.turns[told.turns.count - 1] += items.count
            defer { told.isTurn = true }
            return !told.isTurn
        }
        // It runs once what is going on now has returned.
        guard isFirst else { return }
        MultiThreadedEventLoopGroup.currentEventLoop?.execute {
            Self.told.withLock { $0.isTurn = false }
        }
    }
}
