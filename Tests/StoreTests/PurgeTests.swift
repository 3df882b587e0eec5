import FaultVFS
import Foundation
import GRDB
import Store
import StoreFaults
import Synchronization
import TestSupport
import Testing

/// What was purged is in no read from its commit on; its rows go afterwards, a few at a time.
@Suite(.timeLimit(.minutes(2))) struct PurgeTests {
    private func fill(_ bench: Bench, _ count: Int, prefix: String = "") {
        for start in stride(from: 0, to: count, by: 500) {
            var entry = put("\(prefix)\(start)", "old")
            entry.changes = (start..<min(start + 500, count)).map {
                RecordChange(
                    container: "films", component: "list", key: "\(prefix)\($0)",
                    value: Array("old".utf8))
            }
            bench.store.append(entry, ticket: 0)
        }
        bench.settle()
    }

    private func purge(_ prefix: String = "") -> Entry {
        Entry(
            container: "films", epoch: 0, time: 1,
            purges: [Purge(container: "films", component: "list", prefix: prefix)])
    }

    /// What every way of reading shows.
    private func check(_ bench: Bench, _ expected: [String: String]) throws {
        #expect(try bench.records("films", "list") == expected)
        var kept: [String: String] = [:]
        try bench.store.snapshot().forEachRecord(
            container: "films", component: "list", after: nil
        ) { key, value in
            kept[key] = value.map { String(decoding: $0, as: UTF8.self) }
            return true
        }
        #expect(kept == expected)
        let keys = ["0", "7", "a\n3", "b\n3"]
        let found = try bench.store.records(
            keys.map { RecordKey(container: "films", component: "list", key: $0) })
        for (key, record) in zip(keys, found) {
            #expect(record.map { String(decoding: $0.value, as: UTF8.self) } == expected[key])
        }
    }

    @Test func `a component's records are gone with one small entry, however many there are`()
        throws
    {
        let scratch = try TemporaryDirectory()
        let files = FaultFiles(scratch.path)
        let store = Mutex<Store?>(nil)
        let bench = try Bench(scratch) { outcomes in
            guard outcomes.last?.ticket == 8 else { return }
            // What is appended while the first slice is committed is written before the next one.
            files.beforeSyncs {
                store.withLock {
                    $0?.append(put("7", "new"), ticket: 9)
                    $0 = nil
                }
            }
        }
        store.withLock { $0 = bench.store }
        fill(bench, 3_500)
        let program = try OtherProgram(at: bench.store.file)
        try program.noteDeletions()
        bench.write(purge(), ticket: 8)
        bench.store.waitForDeletion()
        bench.settle()
        let deletions = try program.deletions()
        #expect(deletions.map(\.records) == [1_000, 1_000, 1_000, 500])
        #expect(deletions.map(\.entry) == [8, 9, 9, 9])
        // One of them was written anew meanwhile.
        try check(bench, ["7": "new"])
        #expect(try bench.store.recordRows() == 1)
    }

    @Test func `until the rows are deleted nothing shows them, also after a kill`() throws {
        let scratch = try TemporaryDirectory()
        var bench = try Bench(scratch)
        fill(bench, 2_500)
        let program = try OtherProgram(at: bench.store.file)
        try program.keepPurged()
        bench.write(purge())
        bench.store.waitForDeletion()
        #expect(try bench.store.recordRows() == 2_500)
        try check(bench, [:])
        // Written anew it is a new record.
        let again = bench.write(put("7", "new"))
        try check(bench, ["7": "new"])
        let record = try bench.store.records([
            RecordKey(container: "films", component: "list", key: "7")
        ])[0]
        #expect(record?.created == again?.sequence)
        bench.store.abandon()

        try program.heal()
        bench = try Bench(scratch)
        bench.store.waitForDeletion()
        bench.settle()
        try check(bench, ["7": "new"])
        #expect(try bench.store.recordRows() == 1)
        #expect(bench.write(put("8", "new", epoch: 1))?.sequence != nil)
    }

    @Test func `what begins with a prefix goes, and its neighbours stay`() throws {
        let bench = try Bench()
        fill(bench, 5, prefix: "a\n")
        fill(bench, 2, prefix: "ab\n")
        fill(bench, 4, prefix: "b\n")
        let program = try OtherProgram(at: bench.store.file)
        try program.keepPurged()
        var entry = purge("a\n")
        entry.purges.append(Purge(container: "films", component: "list", prefix: "b\n"))
        entry.changes = [
            RecordChange(
                container: "films", component: "list", key: "a\n3", value: Array("same".utf8))
        ]
        bench.write(entry)
        let rest = ["ab\n0": "old", "ab\n1": "old", "a\n3": "same"]
        try check(bench, rest)
        try program.heal()
        bench.write(purge("a\n"))
        bench.store.waitForDeletion()
        try check(bench, ["ab\n0": "old", "ab\n1": "old"])
        #expect(try bench.store.recordRows() == 2)
    }

    @Test func `an entry that fails purges nothing`() throws {
        let scratch = try TemporaryDirectory()
        let files = FaultFiles(scratch.path)
        let bench = try Bench(scratch)
        fill(bench, 3)
        files.fail(FaultError, at: files.calls, count: .max, seed: 0)
        #expect(bench.write(purge())?.failure != nil)
        bench.store.waitForDeletion()
        try check(bench, ["0": "old", "1": "old", "2": "old"])
    }

    @Test func `what is purged stays unread after a kill between two slices`() async throws {
        let scratch = try TemporaryDirectory()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let files = FaultFiles(path)
            let store = try Store(at: path, logger: quiet) { outcomes in
                guard outcomes.last?.ticket == 1 else { return }
                let slices = Slices()
                files.beforeSyncs {
                    guard slices.count.add(1, ordering: .relaxed).newValue == 2 else { return }
                    kill(getpid(), SIGKILL)
                }
            }
            for part in 0..<5 {
                var entry = put("", "old")
                entry.changes = (0..<500).map {
                    RecordChange(
                        container: "films", component: "list", key: "\(part)/\($0)",
                        value: Array("old".utf8))
                }
                store.append(entry, ticket: 0)
            }
            store.append(
                Entry(
                    container: "films", epoch: 0, time: 1,
                    purges: [Purge(container: "films", component: "list")]), ticket: 1)
            store.waitForDeletion()
        }
        let file = try DatabaseQueue(path: scratch.database)
        let rows = try await file.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM records")
        }
        // The second one was written, and not synced.
        #expect(rows == 500)
        try file.close()
        let bench = try Bench(scratch)
        try check(bench, [:])
        bench.store.waitForDeletion()
        try check(bench, [:])
        #expect(try bench.store.recordRows() == 0)
    }
}

private final class Slices: Sendable {
    let count = Atomic(0)
}
