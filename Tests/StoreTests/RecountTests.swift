import GRDB
import TestSupport
import Testing

@testable import Store

/// What a recount of the rows finds.
@Suite(.timeLimit(.minutes(2))) struct RecountTests {
    /// What a recount found.
    private struct Total: Equatable {
        var records = 0
        var entries = 0
        var damaged: [String] = []
        var differences: [RecordDifference] = []
        var missing = 0
    }

    private func total(_ store: Store, of container: String? = nil) throws -> Total {
        let recount = try Recount(of: store, container: container)
        var total = Total()
        while let slice = try recount.next() {
            #expect(slice.rows <= 2_000)
            if slice.component == nil {
                total.entries += slice.rows
            } else {
                total.records += slice.rows
            }
            total.damaged += slice.damaged
            total.differences += slice.difference.map { [$0] } ?? []
            total.missing += slice.missing
        }
        return total
    }

    /// A store with five records, in whose file something is then changed behind its back.
    private func reopened(after sql: String) throws -> Bench {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        for key in ["a", "b", "c", "", "d"] { bench.write(put(key, "good \(key)")) }
        bench.store.close()
        let file = try DatabaseQueue(path: scratch.database)
        try file.write { db in try db.execute(sql: sql) }
        try file.close()
        return try Bench(scratch)
    }

    @Test func `what was put anew in a damaged record's place is found whole at once`() throws {
        let bench = try reopened(after: "UPDATE records SET value = x'78' WHERE key = x'61'")
        #expect(try total(bench.store).damaged == ["a"])
        bench.write(put("a", "new"))
        let found = try total(bench.store)
        #expect(found.damaged.isEmpty && found.differences.isEmpty)
        #expect(found.records == 5)
    }

    @Test(arguments: ["trimmed", "applied"])
    func `a number in the file that can't be ends no recount`(name: String) throws {
        let bench = try Bench()
        for key in ["a", "b", "c", "", "d"] { bench.write(put(key, "good \(key)")) }
        let file = try DatabaseQueue(path: bench.store.file)
        try file.write { db in
            try db.execute(
                sql: "UPDATE meta SET value = ? WHERE name = ?", arguments: [Int64.min, name])
        }
        try file.close()
        #expect(try total(bench.store).entries == 5)
    }

    @Test func `a store of which all is well has no difference, also one that is written to`()
        throws
    {
        let bench = try Bench()
        let entries = (0..<4_500).map { put("\($0)", "value \($0)") }
        for entry in entries.prefix(900) { bench.store.append(entry, ticket: 0) }
        bench.settle()
        let early = try Recount(of: bench.store, container: nil)
        for entry in entries.dropFirst(900) { bench.store.append(entry, ticket: 0) }
        var rows = 0
        while let slice = try early.next() {
            rows += slice.rows
            #expect(slice.damaged == [] && slice.difference == nil && slice.missing == 0)
        }
        // Of the moment at which it began: 900 entries, and those records that were made of them.
        #expect(rows <= 1_800 && rows >= 900)
        bench.settle()
        let late = try total(bench.store)
        #expect(late.entries == 4_500 && late.damaged == [] && late.differences == [])
        bench.write(put("77", nil))
        bench.write(put("78", "other"))
        #expect(try total(bench.store, of: "films").differences == [])
        #expect(try total(bench.store, of: "films").entries == 0)
        bench.store.setRetention(Retention(count: 100))
        bench.store.waitForTrimming()
        let trimmed = try total(bench.store)
        #expect(trimmed.missing == 0 && trimmed.damaged == [])
        #expect(trimmed.records == 4_499 && trimmed.differences == [])
    }

    @Test(arguments: [
        ("UPDATE records SET value = x'00' WHERE key = x'62'", ["b"]),
        ("UPDATE records SET sequence = 1 WHERE key = x''", [""]),
        ("UPDATE records SET created = 'x' WHERE key = x'62'", ["b"]),
        ("UPDATE entries SET public = x'00' WHERE sequence = 2", ["2"]),
        ("UPDATE entries SET position = 4 WHERE sequence = 3", ["3", "4"]),
        ("UPDATE entries SET container = 99 WHERE sequence = 5", ["5"]),
    ])
    func `a row that was changed is named`(sql: String, damaged: [String]) throws {
        let bench = try reopened(after: sql)
        let found = try total(bench.store)
        #expect(found.damaged == damaged)
        #expect(found.records == 5 && found.entries == 5)
        #expect(found.differences == [] && found.missing == 0)
    }

    @Test func `rows of records that are gone are counted`() throws {
        let bench = try reopened(after: "DELETE FROM records WHERE key IN (x'61', x'64')")
        let found = try total(bench.store)
        #expect(found.differences == [RecordDifference(expected: 5, found: 3)])
        #expect(found.damaged == [] && found.missing == 0)
    }

    @Test(arguments: [
        "DELETE FROM entries WHERE sequence = 2", "DELETE FROM entries WHERE sequence = 1",
    ])
    func `an entry that is gone is counted`(sql: String) throws {
        let bench = try reopened(after: sql)
        let found = try total(bench.store)
        #expect(found.missing == 1 && found.damaged == [] && found.entries == 4)
    }

    @Test func `SQLite's own check of a whole file finds nothing, and of torn pages much`() throws {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        for number in 0..<300 { bench.write(put("\(number)", String(repeating: "x", count: 500))) }
        #expect(try QuickCheck(of: bench.store).run() == [])
        bench.store.close()
        #expect(throws: StoreError.self) { _ = try QuickCheck(of: bench.store) }
        let file = try DatabaseQueue(path: scratch.database)
        // The order of keys in a page is what SQLite looks at.
        try file.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET rootpage = (
                        SELECT rootpage FROM sqlite_schema WHERE name = 'actors')
                    WHERE name = 'probe';
                    """)
        }
        try file.close()
        let again = try Bench(scratch)
        #expect(try QuickCheck(of: again.store).run().count > 0)
    }
}
