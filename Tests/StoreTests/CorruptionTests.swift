import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// A database that SQLite itself says is damaged.
@Suite(.timeLimit(.minutes(3))) struct CorruptionTests {
    /// A store whose table of records can't be read.
    private func damaged() throws -> TemporaryDirectory {
        let bench = try Bench()
        for number in 0..<10 { bench.write(put("\(number)", "x")) }
        bench.store.close()
        let (root, size) = try DatabaseQueue(path: bench.scratch.database).read { db in
            (
                try Int.fetchOne(
                    db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'records'"),
                try Int.fetchOne(db, sql: "PRAGMA page_size")
            )
        }
        var files = try StoreFiles(of: bench.scratch)
        files.database[(try #require(root) - 1) * (try #require(size))] = 0xff
        return try files.written()
    }

    private func expectReadOnly(_ bench: Bench) throws {
        #expect(bench.store.isDamaged)
        #expect(bench.store.unavailability?.contains("restore a backup") == true)
        for epoch in 100..<102 {
            guard case .damaged(let reason)? = bench.write(put("b", "x", epoch: epoch))?.failure
            else {
                Issue.record("a damaged file was written to")
                return
            }
            #expect(reason.contains("SQLite error 11"))
            bench.store.probe()
        }
        bench.store.setRetention(Retention(count: 0))
        bench.store.waitForTrimming()
        // Reads go on.
        #expect(try bench.store.containers() == ["films"])
        #expect(try bench.store.notifications(after: 0, limit: 9).notifications.count == 9)
    }

    @Test func `after a read that found the file damaged nothing is written any more`() throws {
        let scratch = try damaged()
        let before = try StoreFiles(of: scratch)
        let bench = try Bench(scratch)
        #expect(!bench.store.isDamaged)
        let error = #expect(throws: StoreError.self) { try bench.records("films", "list") }
        guard case .corrupt? = error else { throw error ?? CancellationError() }
        try expectReadOnly(bench)
        bench.store.close()
        #expect(try StoreFiles(of: scratch).database == before.database)
    }

    @Test func `after a write that found the file damaged nothing is written any more`() throws {
        let scratch = try damaged()
        let before = try StoreFiles(of: scratch)
        let bench = try Bench(scratch)
        // The entry is there; that its records can't be made is found by what makes them.
        #expect(bench.write(put("a", "x"))?.sequence == 11)
        bench.store.setRetention(Retention(count: 1))
        bench.store.waitForTrimming()
        try expectReadOnly(bench)
        bench.store.close()
        let after = try StoreFiles(of: scratch)
        #expect(after.database == before.database)
        #expect(!after.log.isEmpty)
    }

    @Test
    func `a file that was found damaged is only read by later starts, until its note is removed`()
        throws
    {
        let scratch = try damaged()
        let note = "\(scratch.database).damaged-database.txt"
        let first = try Bench(scratch)
        #expect(first.store.damages == [])
        #expect(throws: StoreError.self) { try first.records("films", "list") }
        // As after a kill.
        first.store.abandon()
        let before = try StoreFiles(of: scratch)
        for _ in 0..<2 {
            let bench = try Bench(scratch)
            #expect(bench.store.isDamaged)
            #expect(bench.store.unavailability?.contains(note) == true)
            let damage = try #require(bench.store.damages.first)
            #expect(bench.store.damages.count == 1)
            #expect(damage.contains("SQLite error 11") && damage.contains("remove \(note)"))
            guard case .damaged? = bench.write(put("b", "x"))?.failure else {
                Issue.record("a damaged file was written to")
                return
            }
            bench.store.probe()
            #expect(try bench.store.notifications(after: 0, limit: 9).notifications.count == 9)
            bench.store.close()
            #expect(try StoreFiles(of: scratch).database == before.database)
        }
        let last = try Bench(scratch)
        try FileManager.default.removeItem(atPath: note)
        #expect(last.store.damages == [])
        #expect(last.store.isDamaged)
        last.store.close()
        let accepted = try Bench(scratch)
        #expect(accepted.store.damages == [] && !accepted.store.isDamaged)
        #expect(accepted.write(put("b", "x", epoch: 1))?.sequence == 11)
    }

    @Test(arguments: [false, true])
    func `a file that is found damaged by a close is left as it is`(byRead: Bool) throws {
        let scratch = try damaged()
        let before = try StoreFiles(of: scratch)
        let bench = try Bench(scratch)
        if byRead {
            // Changes no records: what makes them finds nothing.
            #expect(bench.write(Entry(container: "films", epoch: 0, time: 1))?.sequence == 11)
            bench.store.enqueueRead { store in
                _ = try? store.forEachRecord(container: "films", component: "list") { _, _, _ in }
            }
        } else {
            #expect(bench.write(put("a", "x"))?.sequence == 11)
            #expect(!bench.store.isDamaged)
        }
        bench.store.close()
        let after = try StoreFiles(of: scratch)
        #expect(after.database == before.database)
        #expect(!after.log.isEmpty)
    }
}
