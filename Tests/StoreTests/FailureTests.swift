import FaultVFS
import Foundation
import GRDB
import Store
import StoreFaults
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct FailureTests {
    /// Has the database refuse the entry that puts a key.
    @discardableResult
    private func refuse(_ key: String, in bench: Bench) throws -> OtherProgram {
        let program = try OtherProgram(at: bench.store.file)
        try program.refuseEntries(where: "NEW.public = CAST('\(key)' AS BLOB)")
        return program
    }

    @Test func `a group with one bad entry commits the others`() throws {
        let bench = try Bench()
        let entries = (0..<5).map { put("\($0)", "x", in: "c\($0)") }
        try refuse("2", in: bench)
        let outcomes = try bench.writeTogether(entries)
        #expect(outcomes.map(\.ticket) == [0, 1, 2, 3, 4])
        #expect(outcomes.map(\.result.sequence) == [2, 3, nil, 4, 5])
        #expect(outcomes[2].result.isStorageFailure)
        #expect(
            try bench.store.notifications(after: 1, limit: 9).notifications.map(\.sequence) == [
                2, 3, 4, 5,
            ])
        #expect(try bench.records("c2", "list").isEmpty)
        #expect(bench.store.unavailability == nil)
    }

    @Test func `a failed commit of a group is retried entry by entry`() throws {
        let scratch = try TemporaryDirectory()
        let files = FaultFiles(scratch.path)
        let bench = try Bench(scratch)
        // The group's first write comes after the sync of the entry that holds the writer.
        files.fail(FaultError, afterSyncs: 1)
        let outcomes = try bench.writeTogether((0..<3).map { put("\($0)", "x") })
        #expect(files.hasFailed)
        #expect(outcomes.map(\.result.sequence) == [2, 3, 4])
    }

    @Test func `after a failure the lane's epoch is refused, queued entries too`() throws {
        let bench = try Bench()
        let entries = [
            put("a", "1", epoch: 4), put("b", "2", epoch: 4), put("c", "3", epoch: 4),
            put("d", "4", in: "books", epoch: 4), put("e", "5", epoch: 3), put("f", "6", epoch: 5),
        ]
        let program = try refuse("b", in: bench)
        let outcomes = try bench.writeTogether(entries).map(\.result)
        #expect(outcomes[0].sequence == 2)
        #expect(outcomes[1].isStorageFailure)
        #expect(outcomes[2].failure == .olderEpoch(epoch: 4))
        #expect(outcomes[3].sequence == 3)
        #expect(outcomes[4].failure == .olderEpoch(epoch: 4))
        #expect(outcomes[5].sequence == 4)
        try program.heal()
        #expect(bench.write(put("g", "7", epoch: 4))?.failure == .olderEpoch(epoch: 4))
        #expect(bench.write(put("g", "7", epoch: 5))?.sequence == 5)
        #expect(try bench.records("films", "list") == ["a": "1", "f": "6", "g": "7"])
    }

    @Test func `an entry decided at another position is stale and fails its epoch`() throws {
        let bench = try Bench()
        #expect(bench.write(put("a", "1", expecting: 0))?.sequence == 1)
        #expect(bench.write(put("a", "2", expecting: 0))?.failure == .stale(position: 1))
        let later = bench.write(put("a", "3", expecting: 1))
        #expect(later?.failure == .olderEpoch(epoch: 0))
        #expect(bench.write(put("a", "4", epoch: 1, expecting: 1))?.sequence == 2)
        let together = try bench.writeTogether([
            put("a", "5", epoch: 1, expecting: 2), put("a", "6", epoch: 1, expecting: 3),
            put("a", "7", epoch: 1, expecting: 3),
        ])
        #expect(together[0].result.sequence == 4)
        #expect(together[1].result.sequence == 5)
        #expect(together[2].result.failure == .stale(position: 4))
        #expect(try bench.records("films", "list") == ["a": "6"])
    }

    @Test func `a storage error stops writing until a probe commits`() throws {
        let scratch = try TemporaryDirectory()
        let files = FaultFiles(scratch.path)
        let bench = try Bench(scratch)
        let entries = ["a", "b", "c"].map { put($0, "x", in: $0) }
        bench.write(put("0", "x", in: "0"))
        files.fail(FaultError, at: files.calls, count: .max, seed: 0)
        for (ticket, entry) in entries.enumerated() {
            bench.store.append(entry, ticket: UInt64(ticket))
        }
        let outcomes = bench.settle().dropFirst()
        #expect(outcomes.map(\.ticket) == [0, 1, 2])
        #expect(outcomes.first?.result.isStorageFailure == true)
        #expect(outcomes.dropFirst().allSatisfy { $0.result.isUnavailable })
        #expect(bench.store.unavailability != nil)

        files.fail(FaultFull, at: files.calls, count: .max, seed: 0)
        bench.store.probe()
        #expect(bench.write(put("d", "x", in: "d"))?.isUnavailable == true)

        files.fail(FaultNone, at: 0, count: 0, seed: 0)
        bench.store.probe()
        #expect(bench.store.unavailability == nil)
        #expect(bench.write(put("e", "x", in: "e"))?.sequence == 2)
        // Refused is not written, so what was decided on it can't be either.
        #expect(bench.write(put("d", "y", in: "d"))?.failure == .olderEpoch(epoch: 0))
        #expect(bench.write(put("d", "y", in: "d", epoch: 1))?.sequence == 3)
    }

    @Test func `a store whose entries can't be made to records takes no more until they can`()
        throws
    {
        let bench = try Bench()
        bench.write(put("a", "x"))
        let other = try DatabaseQueue(path: bench.scratch.database)
        try other.write { db in
            try db.execute(
                sql:
                    "CREATE TRIGGER no BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        }
        for number in 0..<199 { bench.store.append(put("\(number)", "x"), ticket: 0) }
        #expect(throws: (any Error).self) { try bench.store.recordRows() }
        #expect(bench.store.unavailability?.contains("no") == true)
        bench.store.probe()
        #expect(bench.store.unavailability?.contains("no") == true)
        #expect(bench.write(put("b", "x"))?.isUnavailable == true)
        try other.write { db in try db.execute(sql: "DROP TRIGGER no") }
        bench.store.probe()
        #expect(bench.store.unavailability == nil)
        #expect(bench.write(put("b", "x", epoch: 1))?.sequence == 201)
        #expect(try bench.records("films", "list").count == 201)
    }

    @Test func `an unavailable store says when to try again and recovers by itself`() throws {
        let bench = try Bench(TemporaryDirectory(), probeInterval: .milliseconds(20))
        let program = try OtherProgram(at: bench.store.file)
        try program.lockOut(bench.store)
        #expect(bench.write(put("a", "x"), ticket: 1)?.isStorageFailure == true)
        try program.heal()
        var epoch = 1
        var result = bench.write(put("a", "x", epoch: epoch), ticket: 2)
        while case .unavailable(let retryAfter)? = result?.failure {
            #expect(retryAfter <= 0.02)
            epoch += 1
            result = bench.write(put("a", "x", epoch: epoch), ticket: 2)
        }
        #expect(result?.sequence == 1)
    }

    @Test func `a full disk stops writing, and room lets it go on`() throws {
        let bench = try Bench()
        bench.write(put("a", "small"))
        let pages = try bench.store.pragma("page_count") ?? 0
        _ = try bench.store.pragma("max_page_count = \(pages + 8)")
        let large = String(repeating: "x", count: 1 << 19)
        let outcomes = try bench.writeTogether([
            put("b", "small", in: "books"), put("c", large), put("d", "small", in: "plays"),
        ]).map(\.result)
        #expect(outcomes[0].sequence == 3)
        guard case .storage(let reason)? = outcomes[1].failure else {
            Issue.record("a value larger than the room was written")
            return
        }
        #expect(reason.contains("full"))
        #expect(outcomes[2].isUnavailable)
        bench.store.probe()
        #expect(bench.store.unavailability != nil)

        _ = try bench.store.pragma("max_page_count = 1000000")
        bench.store.probe()
        #expect(bench.write(put("c", large, epoch: 1))?.sequence == 4)
        #expect(try bench.records("films", "list").keys.sorted() == ["a", "c"])
        #expect(try bench.store.pragma("synchronous") == 2)
    }

    @Test func `a name that SQLite would cut fails its entry alone`() throws {
        let bench = try Bench()
        #expect(bench.write(put("a", "x", in: "fi\0lms"))?.isStorageFailure == true)
        #expect(bench.write(put("a\0b", "x"))?.sequence == 1)
        #expect(try bench.records("films", "list") == ["a\0b": "x"])
    }

    @Test func `a group refused whole commits nothing and syncs nothing`() throws {
        let bench = try Bench()
        try refuse("a", in: bench)
        bench.write(put("a", "x"), ticket: 1)
        let before = SyncCounter.count(under: bench.scratch.path)
        #expect(bench.write(put("a", "x"))?.failure == .olderEpoch(epoch: 0))
        #expect(SyncCounter.count(under: bench.scratch.path) == before)
        #expect(bench.store.lastSequence == 0)
    }

    @Test func `a file that another holds locked stops writing at once, and reads go on`() throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        // The writer makes room in the log after the reply, under the lock.
        bench.settle()
        let other = try DatabaseQueue(path: bench.scratch.database)
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN EXCLUSIVE")
            for ticket in 0..<3_000 as Range<UInt64> {
                bench.store.append(put("b\(ticket)", "x"), ticket: ticket)
            }
            let failures = bench.settle().dropFirst().map(\.result)
            #expect(failures.count == 3_000)
            // One has waited for the lock, for all others.
            #expect(failures.count { $0.isStorageFailure } == 1)
            #expect(failures.count { $0.isUnavailable } == 2_999)
            #expect(try bench.records("films", "list") == ["a": "x"])
            bench.store.probe()
            #expect(bench.store.unavailability?.contains("locked") == true)
            try db.execute(sql: "ROLLBACK")
        }
        bench.store.probe()
        #expect(bench.store.unavailability == nil)
        #expect(bench.write(put("b", "x", epoch: 1))?.sequence == 2)
        // It waits for others again, as before.
        #expect(try bench.store.pragma("busy_timeout") == 300)
    }
}
