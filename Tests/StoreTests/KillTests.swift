import Dispatch
import Foundation
import Logging
import Store
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct KillTests {
    /// A real process, killed by a real SIGKILL while its writer is at work, again and again.
    @Test func `kill -9 keeps every acknowledged entry, and every other whole or not at all`()
        async throws
    {
        let scratch = try TemporaryDirectory()
        var random = RepeatableRandom(UInt64(FaultTests.number("KILL_SEED") ?? 2))
        for _ in 0..<(FaultTests.number("KILLS") ?? 6) {
            let path = scratch.path
            let before = Int.random(in: 40...400, using: &random)
            let spins = Int.random(in: 0...20_000, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, before = before as Int, spins = spins as Int] in
                try Victim(path: path, killAfter: before, spins: spins).run()
            }
            try verify(scratch)
        }
    }

    private func verify(_ scratch: TemporaryDirectory) throws {
        let bench = try Bench(scratch)
        defer { bench.store.close() }
        let acknowledged = try Data(contentsOf: URL(fileURLWithPath: "\(scratch.path)/answered"))
            .split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        #expect(acknowledged.count >= 40)
        let left = try bench.records("films", "left")
        let right = try bench.records("films", "right")
        #expect(left == right)
        #expect(Set(acknowledged).isSubset(of: left.keys))
        let past = try bench.store.notifications(after: 0, limit: .max)
        #expect(past.missing.isEmpty)
        let told = past.notifications
        #expect(told.map(\.sequence) == Array(1...bench.store.lastSequence))
        #expect(Set(told.map { String(decoding: $0.payload, as: UTF8.self) }) == Set(left.keys))
        #expect(left.count == told.count)
        #expect(try bench.store.position(of: "films") == bench.store.lastSequence)
    }
}

/// What the killed process does: writes as fast as it can, notes each answer, and kills itself.
private struct Victim {
    var path: String
    var killAfter: Int
    var spins: Int

    func run() throws {
        let answers = open("\(path)/answered", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let room = DispatchSemaphore(value: 64)
        let answered = Atomic(0)
        let spins = spins
        let killAfter = killAfter
        let base = Int64.random(in: 0..<Int64.max / 2)
        let store = try Store(at: path, logger: Logger(label: "victim")) { outcomes in
            for outcome in outcomes {
                guard case .success = outcome.result else { exit(1) }
                let line = "\(base + Int64(outcome.ticket))\n"
                _ = line.withCString { write(answers, $0, line.utf8.count) }
                room.signal()
            }
            answered.add(outcomes.count, ordering: .releasing)
        }
        Thread.detachNewThread {
            while answered.load(ordering: .acquiring) < killAfter { sched_yield() }
            for _ in 0..<spins { _ = answered.load(ordering: .acquiring) }
            kill(getpid(), SIGKILL)
        }
        for ticket in UInt64(0)... {
            room.wait()
            store.append(entry(named: "\(base + Int64(ticket))"), ticket: ticket)
        }
    }

    private func entry(named name: String) -> Entry {
        let value = [UInt8](repeating: 0x78, count: 700)
        return Entry(
            container: "films", epoch: 0, time: 0,
            changes: ["left", "right"].map {
                RecordChange(container: "films", component: $0, key: name, value: value)
            },
            notification: NotificationDraft(topic: "t", payload: [UInt8](name.utf8)))
    }
}
