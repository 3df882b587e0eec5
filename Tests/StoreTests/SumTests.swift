import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// Rows that are not what was written are found where they are read.
@Suite(.timeLimit(.minutes(2))) struct SumTests {
    /// A closed store of three records, in whose file something is then changed behind its back.
    private func reopened(after sql: String, isKilled: Bool = false) throws -> Bench {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        for key in ["a", "b", "c"] { bench.write(put(key, "good \(key)")) }
        if isKilled { bench.store.abandon() } else { bench.store.close() }
        let file = try DatabaseQueue(path: scratch.database)
        try file.write { db in try db.execute(sql: sql) }
        try file.close()
        return try Bench(scratch)
    }

    @Test(arguments: [
        ("sequence = 1", [1...1]), ("sequence = 2", [2...2]), ("sequence > 1", [2...3]),
        ("sequence <> 2", [1...1, 3...3]), ("sequence > 0", [1...3 as ClosedRange<Int64>]),
    ])
    func `entries that are gone are named where the past is read, and counted after a start`(
        which: String, missing: [ClosedRange<Int64>]
    ) throws {
        let bench = try reopened(after: "DELETE FROM entries WHERE \(which)")
        #expect(try bench.store.notifications(after: 0, limit: 9).missing == missing)
        #expect(try bench.store.notifications(after: 3, limit: 9).missing.isEmpty)
        bench.store.setRetention(Retention())
        bench.store.waitForTrimming()
        let count = missing.reduce(0) { $0 + $1.count }
        #expect(bench.store.keptPast?.missing == count)
        // It goes on behind them, and counts none of them twice.
        #expect(bench.write(put("d", "x"))?.sequence == 4)
        #expect(try bench.store.notifications(after: 0, limit: 9).missing == missing)
        bench.store.setRetention(Retention(count: 9))
        bench.store.waitForTrimming()
        #expect(bench.store.keptPast?.missing == count)
    }

    private let b = RecordKey(container: "films", component: "list", key: "b")

    @Test(arguments: [
        "UPDATE records SET value = CAST('food b' AS BLOB) WHERE key = x'62'",
        "UPDATE records SET sequence = 1 WHERE key = x'62'",
        "UPDATE records SET created = 1 WHERE key = x'62'",
    ])
    func `a record that was changed is read nowhere`(sql: String) throws {
        let bench = try reopened(after: sql)
        var seen: [String: String?] = [:]
        try bench.store.forEachRecord(container: "films", component: "list") { key, value, _ in
            let value = value.map { String(decoding: $0, as: UTF8.self) }
            seen.updateValue(value, forKey: String(decoding: key, as: UTF8.self))
        }
        #expect(seen == ["a": "good a", "b": nil, "c": "good c"])
        #expect(throws: StoreError.self) { try bench.store.records([b]) }
        var damaged: [String] = []
        let snapshot = try bench.store.snapshot()
        try snapshot.forEachRecord(container: "films", component: "list", after: nil) {
            if $1 == nil { damaged.append($0) }
            return true
        }
        #expect(damaged == ["b"])
        guard case .damaged = try snapshot.record(b) else {
            Issue.record("a damaged record was found whole")
            return
        }
    }

    @Test func `records beside a damaged one are found, and what was written over it`() throws {
        let bench = try reopened(after: "UPDATE records SET sum = sum + 1 WHERE key = x'62'")
        let keys = ["a", "b", "c"].map {
            RecordKey(container: "films", component: "list", key: $0)
        }
        var damaged: [RecordKey] = []
        let found = try bench.store.records(keys, damaged: &damaged)
        #expect(damaged == [b])
        #expect(
            found.map { $0.map { String(decoding: $0.value, as: UTF8.self) } } == [
                "good a", nil, "good c",
            ])
        // Waits in the tail, over the row in the file.
        bench.write(put("b", "new"))
        #expect(try bench.store.records([b]).first??.value == [UInt8]("new".utf8))
    }

    @Test func `a damaged record is kept aside once, before it is put anew`() throws {
        let bench = try reopened(after: "UPDATE records SET value = x'7879' WHERE key = x'62'")
        let file = "\(bench.scratch.database).damaged-records.ndjson"
        #expect(!FileManager.default.fileExists(atPath: file))
        func read(_ bench: Bench) throws -> [Substring] {
            try bench.store.forEachRecord(container: "films", component: "list") { _, _, _ in }
            return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        }
        let kept = try read(bench)
        #expect(kept.count == 1)
        #expect(kept.first?.contains(#""key":"Yg==""#) == true)
        #expect(kept.first?.contains(#""value":"eHk=""#) == true)
        #expect(try read(bench) == kept)
        #expect(bench.store.copies == [file])
        bench.store.close()
        let again = try Bench(bench.scratch)
        #expect(try read(again) == kept)
        again.write(put("b", "new"))
        #expect(try read(again) == kept)
    }

    @Test func `a damaged record is not kept in a file that a link leads to`() throws {
        let scratch = try TemporaryDirectory()
        let precious = "\(scratch.path)/precious"
        try Data("precious\n".utf8).write(to: URL(filePath: precious))
        let bench = try reopened(after: "UPDATE records SET value = x'7879' WHERE key = x'62'")
        let file = "\(bench.scratch.database).damaged-records.ndjson"
        try #require(symlink(precious, file) == 0)
        try bench.store.forEachRecord(container: "films", component: "list") { _, _, _ in }
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious\n")
        // Once the link is removed, the record is kept.
        try #require(unlink(file) == 0)
        try bench.store.forEachRecord(container: "films", component: "list") { _, _, _ in }
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains(#""key":"Yg==""#))
    }

    @Test(arguments: [
        ("DELETE FROM records WHERE key = x'62'", 2),
        (
            "INSERT INTO records SELECT component, x'64', value, 1, 1, 1 FROM records WHERE key = x'62'",
            4
        ),
    ])
    func `a component's rows are counted when they are read`(sql: String, found: Int) throws {
        let bench = try reopened(after: sql)
        let difference = try bench.store.forEachRecord(container: "films", component: "list") {
            _, _, _ in
        }
        #expect(difference?.expected == 3)
        #expect(difference?.found == found)
    }

    @Test func `a record in another's place is found by the sum of all`() throws {
        let bench = try reopened(
            after: """
                DELETE FROM records WHERE key = x'61';
                INSERT INTO records SELECT component, x'61', value, sequence, created, sum
                FROM records WHERE key = x'62';
                """)
        var damaged: [String] = []
        try bench.store.forEachRecord(container: "films", component: "list") { key, value, _ in
            if value == nil { damaged.append(String(decoding: key, as: UTF8.self)) }
        }
        #expect(damaged == ["a"])
    }

    @Test(arguments: [
        "public = x'00'", "topic = 'films.items.putt'", "time = 7", "actor = 1", "position = 9",
        "restricted = x''",
    ])
    func `a notification that was changed is reported as damaged`(change: String) throws {
        let bench = try reopened(after: "UPDATE entries SET \(change) WHERE sequence = 2")
        let told = try bench.store.notifications(after: 0, limit: 9).notifications
        #expect(told.map(\.isDamaged) == [false, true, false])
    }

    @Test func `an entry whose changes were damaged before they were made is lost aloud`() throws {
        let bench = try reopened(
            after: "UPDATE entries SET changes = x'0102' WHERE sequence = 2", isKilled: true)
        #expect(try bench.records("films", "list") == ["a": "good a", "c": "good c"])
        #expect(bench.store.damages.count == 1)
        #expect(bench.store.damages.first?.contains("sequence 2") == true)
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.scratch.path)
        #expect(names.contains { $0.hasPrefix("atrium.sqlite.damaged-") && !$0.hasSuffix(".txt") })
        #expect(bench.write(put("d", "x"))?.sequence == 4)
    }

    @Test(arguments: ["changes = NULL", "changes = NULL, public = x'00'"])
    func `an entry whose changes damage took away before they were made is lost aloud`(
        change: String
    ) throws {
        let bench = try reopened(
            after: "UPDATE entries SET \(change) WHERE sequence = 2", isKilled: true)
        #expect(try bench.records("films", "list") == ["a": "good a", "c": "good c"])
        #expect(bench.store.damages.count == 1)
        #expect(bench.store.damages.first?.contains("sequence 2") == true)
    }

    @Test func `entries without changes, and those whose changes were made at once, are no damage`()
        throws
    {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        bench.write(put("a", "x"))
        // Made at once: what follows is the tail.
        bench.write(put("b", String(repeating: "x", count: 40_000)))
        bench.write(Entry(container: "films", epoch: 0, time: 1, notification: nil))
        bench.write(put("c", "x"))
        var purge = put("d", nil)
        purge.purges = [Purge(container: "films", component: "list", prefix: "a")]
        bench.write(purge)
        bench.write(Entry(container: "films", epoch: 0, time: 1, actor: 4))
        bench.store.abandon()
        let again = try Bench(scratch)
        #expect(again.store.damages == [])
        #expect(try again.records("films", "list").keys.sorted() == ["b", "c"])
    }

    @Test func `one sync acknowledges, and one more makes two hundred changes`() throws {
        let bench = try Bench()
        let before = SyncCounter.count(under: bench.scratch.path)
        for number in 0..<1_000 { bench.write(put("\(number)", "x")) }
        // The last changes are made once the last answer is given.
        bench.store.waitForDeletion()
        let syncs = SyncCounter.count(under: bench.scratch.path) - before
        #expect(syncs == 1_005)
    }

    @Test func `a file that was set back is lost aloud, and what follows is kept`() throws {
        let bench = try reopened(after: "UPDATE meta SET value = 1000 WHERE name = 'applied'")
        #expect(bench.store.damages.count == 2)
        let said = "997 of the last entries were found damaged or missing"
        #expect(bench.store.damages.first?.contains(said) == true, "\(bench.store.damages)")
        #expect(bench.store.damages.first?.contains("(sequence 4, 5, 6, …)") == true)
        #expect(bench.store.damages.last?.hasPrefix("1 row of the table meta (applied)") == true)
        #expect(bench.write(put("d", "x"))?.sequence == 1_001)
        bench.store.abandon()
        let again = try Bench(bench.scratch)
        #expect(try again.records("films", "list")["d"] == "x")
    }

    @Test func `rows are counted once however often a reading stops between them`() throws {
        let bench = try Bench()
        for key in ["b", "d", "f"] { bench.write(put(key, key)) }
        // In the file.
        #expect(try bench.store.recordRows() == 3)
        for key in ["a", "c", "d", "g"] { bench.write(put(key, "new \(key)")) }
        bench.write(put("f", nil))
        var tally = RecordTally()
        var seen: [String] = []
        while true {
            do {
                try bench.store.forEachRecord(
                    container: "films", component: "list", after: seen.last, tally: &tally
                ) { key, _, _ in
                    seen.append(String(decoding: key, as: UTF8.self))
                    throw Stop()
                }
                break
            } catch is Stop {}
        }
        #expect(seen == ["a", "b", "c", "d", "g"])
        #expect(tally.difference == nil)
    }

    private struct Stop: Error {}

    @Test func `keys that read alike are two records`() throws {
        let bench = try Bench()
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        bench.write(put(composed, "one"))
        #expect(try bench.store.recordRows() == 1)
        bench.write(put(decomposed, "two"))
        let keys = [composed, decomposed].map {
            RecordKey(container: "films", component: "list", key: $0)
        }
        let found = try bench.store.records(keys).map {
            $0.map { String(decoding: $0.value, as: UTF8.self) }
        }
        #expect(found == ["one", "two"])
        bench.write(put(decomposed, nil))
        #expect(try bench.store.records(keys).map { $0 == nil } == [false, true])
    }
}
