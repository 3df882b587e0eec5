import FaultVFS
import Foundation
import GRDB
import StoreFaults
import TestSupport
import Testing

@testable import Store

/// Rows that say where the others belong, and what was purged, are what was written, or it is said which are not.
@Suite(.timeLimit(.minutes(2))) struct TableSumTests {
    private static let kept = ["a\n1", "a\n2", "b\n1", "c\n1"]

    /// A closed store with purges that are still to be made, in whose file something is then changed behind its back.
    private func reopened(after sql: String, purges: [Purge]? = nil) throws -> Bench {
        try Bench(closed(after: sql, purges: purges))
    }

    private func closed(after sql: String, purges: [Purge]? = nil) throws -> TemporaryDirectory {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        for key in Self.kept { bench.write(put(key, #"{"item":"\#(key.prefix(1))"}"#)) }
        var entry = put("x", "y", in: "books")
        entry.actors = [Actor(number: 7, name: "unix:1000"), Actor(number: 8, name: "unix:1001")]
        bench.write(entry)
        let program = try OtherProgram(at: bench.store.file)
        try program.keepPurged()
        bench.write(
            Entry(
                container: "films", epoch: 0, time: 1,
                purges: purges
                    ?? [
                        Purge(container: "films", component: "list", prefix: "a\n"),
                        Purge(container: "films", component: "list", item: "b"),
                    ]))
        bench.store.waitForDeletion()
        bench.store.close()
        try program.heal()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let file = try DatabaseQueue(path: scratch.database, configuration: configuration)
        try file.write { db in try db.execute(sql: sql) }
        try file.close()
        return scratch
    }

    /// The files of a closed store, and where the page of a table or an index begins in its database.
    private func files(
        of scratch: TemporaryDirectory, pageOf name: String
    ) throws -> (StoreFiles, place: Int) {
        let root = try DatabaseQueue(path: scratch.database).read { db in
            try Int.fetchOne(
                db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [name])
        }
        return (try StoreFiles(of: scratch), (try #require(root) - 1) * 4_096)
    }

    private func foundByRecount(_ store: Store) throws -> [String] {
        let recount = try Recount(of: store, container: nil)
        var problems: [String] = []
        while let slice = try recount.next() { problems += slice.problems }
        return problems
    }

    @Test func `of a store of which all is well nothing is said, whatever was done to it`() throws {
        let bench = try reopened(after: "SELECT 1")
        bench.store.waitForDeletion()
        #expect(bench.store.damages == [])
        #expect(try bench.store.recordRows() == 2)
        bench.store.setRetention(Retention(count: 2))
        bench.store.waitForTrimming()
        try bench.store.erase(7, notifications: [])
        #expect(try foundByRecount(bench.store) == [])
        bench.store.close()
        let again = try Bench(bench.scratch)
        #expect(again.store.damages == [])
        #expect(try again.store.trimmedThrough() > 0)
    }

    @Test(arguments: [
        ("UPDATE purges SET first = x'60' WHERE id = 1", "purges (1)"),
        ("UPDATE purges SET last = x'' WHERE id = 1", "purges (1)"),
        ("UPDATE purges SET component = 2 WHERE id = 2", "purges (2)"),
        ("UPDATE purges SET item = 'b' WHERE id = 2", "purges (2)"),
        ("UPDATE purges SET through = 70 WHERE id = 2", "purges (2)"),
        ("UPDATE purges SET id = 66 WHERE id = 2", "purges (66)"),
        ("UPDATE actors SET name = x'00' WHERE number = 7", "actors (7)"),
        ("UPDATE containers SET name = 'filmt' WHERE name = 'films'", "containers (1)"),
        ("UPDATE containers SET position = 70 WHERE name = 'films'", "containers (1)"),
        ("UPDATE components SET name = 'lisp' WHERE container = 1", "components (1)"),
        ("UPDATE components SET records = 'x' WHERE container = 1", "components (1)"),
        ("UPDATE components SET sum = sum + 1 WHERE container = 1", "components (1)"),
        ("UPDATE components SET id = 65 WHERE container = 1", "components (65)"),
        ("UPDATE meta SET value = 1 WHERE name = 'trimmed'", "meta (trimmed)"),
        ("UPDATE meta SET value = lower(value) || ' ' WHERE name = 'trimmed'", "meta (trimmed)"),
    ])
    func `a row that was changed is named, at a start and by a recount`(
        sql: String, row: String
    ) throws {
        let bench = try reopened(after: sql)
        let expected = "1 row of the table \(row) does not match its checksum: "
        #expect(bench.store.damages.count == 1)
        #expect(bench.store.damages.first?.hasPrefix(expected) == true, "\(bench.store.damages)")
        let found = try foundByRecount(bench.store)
        #expect(found.count == 1 && found[0].hasPrefix(expected), "\(found)")
    }

    @Test(arguments: [
        ("DELETE FROM purges WHERE id = 1", "purges should have 2 rows, and has 1"),
        ("DELETE FROM actors", "actors should have 2 rows, and has 0"),
        ("DELETE FROM containers WHERE name = 'books'", "containers should have 2 rows, and has 1"),
        ("DELETE FROM components WHERE container = 2", "components should have 2 rows, and has 1"),
        ("DELETE FROM meta WHERE name = 'trimmed'", "meta should have 7 rows, and has 6"),
    ])
    func `a row that is gone is counted, at a start and by a recount`(
        sql: String, said: String
    ) throws {
        let bench = try reopened(after: sql)
        #expect(bench.store.damages.count == 1)
        #expect(bench.store.damages.first?.contains(said) == true, "\(bench.store.damages)")
        let found = try foundByRecount(bench.store)
        // Of purges the other one may have been made meanwhile.
        let start = said.prefix { !$0.isNumber }
        #expect(found.count == 1 && found[0].contains(start), "\(found)")
    }

    @Test func `a row that its index has lost is named, though it is what was written`() throws {
        let bench = try reopened(after: "SELECT 1")
        bench.store.waitForDeletion()
        bench.store.close()
        var (files, place) = try files(
            of: bench.scratch, pageOf: "sqlite_autoindex_components_1")
        // How many entries its page has.
        files.database.resetBytes(in: place + 3..<place + 5)
        let again = try Bench(files.written())
        #expect(
            again.store.damages.map { $0.prefix { $0 != ":" } } == [
                "2 rows of the table components (1, 2) do not match their checksums"
            ])
        // There would be a second one of that name.
        #expect(again.write(put("a\n1", "x", epoch: 1))?.failure != nil)
        #expect(again.store.isDamaged)
    }

    @Test(arguments: [
        "DELETE FROM components WHERE id = 1", "DELETE FROM containers WHERE id = 1",
        "UPDATE records SET component = 99 WHERE key = (SELECT MAX(key) FROM records)",
        "UPDATE actors SET rowsum = rowsum + 1 WHERE number = 8",
    ])
    func `nobody is erased while a lost row may be theirs`(damage: String) throws {
        let bench = try reopened(after: damage, purges: [])
        let error = #expect(throws: StoreError.self) {
            try bench.store.erase(7, notifications: [])
        }
        guard case .corrupt? = error else { throw error ?? CancellationError() }
    }

    @Test(arguments: ["containers", "actors"])
    func `a row that is there twice does not stand for one that is gone`(table: String) throws {
        let bench = try reopened(after: "SELECT 1")
        bench.store.waitForDeletion()
        bench.store.close()
        var (files, place) = try files(
            of: bench.scratch, pageOf: table)
        // The places of the page's first two rows.
        let rows = place + 8
        files.database.replaceSubrange(
            rows + 2..<rows + 4, with: files.database.subdata(in: rows..<rows + 2))
        let again = try Bench(files.written())
        let problem = "1 row of the table \(table) is there twice or out of order"
        #expect(again.store.damages.contains { $0.hasPrefix(problem) }, "\(again.store.damages)")
        #expect(try foundByRecount(again.store).contains { $0.hasPrefix(problem) })
        #expect(throws: BackupError.self) { try BackupMaking().make(of: again.store) }
    }

    @Test func `an entry that is there twice does not stand for one that is gone`() throws {
        let bench = try reopened(after: "SELECT 1")
        bench.store.waitForDeletion()
        bench.store.close()
        var (files, place) = try files(of: bench.scratch, pageOf: "entries")
        let rows = place + 8
        files.database.replaceSubrange(
            rows + 2..<rows + 4, with: files.database.subdata(in: rows..<rows + 2))
        let again = try Bench(files.written())
        again.store.setRetention(Retention(count: 1_000))
        again.store.waitForTrimming()
        #expect(again.store.keptPast?.missing == 1)
        #expect(throws: BackupError.self) { try BackupMaking().make(of: again.store) }
    }

    @Test func `a record in the place of the one behind it is found`() throws {
        let scratch = try closed(after: "SELECT 1", purges: [])
        var (files, place) = try files(of: scratch, pageOf: "records")
        let rows = place + 8
        let places = files.database.subdata(in: rows..<rows + 4)
        files.database.replaceSubrange(rows..<rows + 4, with: places.suffix(2) + places.prefix(2))
        let bench = try Bench(files.written())
        let recount = try Recount(of: bench.store, container: nil)
        var damaged: [String] = []
        while let slice = try recount.next() { damaged += slice.damaged }
        #expect(damaged == ["a\n1"])
        #expect(throws: BackupError.self) { try BackupMaking().make(of: bench.store) }
    }

    @Test func `a container that its index has lost is not made anew`() throws {
        let bench = try reopened(after: "SELECT 1")
        bench.store.waitForDeletion()
        bench.store.close()
        var (files, place) = try files(
            of: bench.scratch, pageOf: "sqlite_autoindex_containers_1")
        files.database.resetBytes(in: place + 3..<place + 5)
        let again = try Bench(files.written())
        #expect(again.write(put("a\n1", "x", epoch: 1))?.failure != nil)
        #expect(again.store.isDamaged)
    }

    @Test func `purges that their index has lost delete nothing, and nobody can be erased`() throws
    {
        var (files, place) = try files(
            of: closed(after: "SELECT 1"), pageOf: "purges_place")
        files.database.resetBytes(in: place + 3..<place + 5)
        let bench = try Bench(files.written())
        bench.store.waitForDeletion()
        #expect(bench.store.damages.count == 1)
        #expect(bench.store.damages.first?.contains("purges (1, 2)") == true)
        #expect(try bench.store.recordRows() == Self.kept.count + 1)
        let error = #expect(throws: StoreError.self) {
            try bench.store.erase(7, notifications: [])
        }
        guard case .corrupt? = error else { throw error ?? CancellationError() }
    }

    @Test func `a purge in the place of a damaged one does not hide the damage`() throws {
        let bench = try reopened(after: "UPDATE purges SET through = 0 WHERE id = 1")
        bench.write(
            Entry(
                container: "films", epoch: 1, time: 1,
                purges: [Purge(container: "films", component: "list", prefix: "a\n")]))
        bench.store.waitForDeletion()
        #expect(try bench.store.recordRows() == 2)
        #expect(throws: StoreError.self) { try bench.store.erase(7, notifications: []) }
        bench.store.close()
        let damages = try Bench(bench.scratch).store.damages
        #expect(damages.count == 1)
        #expect(damages.first?.contains("purges should have 1 rows, and has 0") == true)
    }

    @Test func `what was found is said also where a later table can't be read`() throws {
        var (files, place) = try files(
            of: closed(after: "UPDATE containers SET position = 70 WHERE name = 'films'"),
            pageOf: "actors")
        files.database[place] = 0xff
        let bench = try Bench(files.written())
        #expect(bench.store.damages.count == 2)
        #expect(bench.store.damages.first?.contains("containers (1)") == true)
        #expect(bench.store.damages.last?.contains("can't be read") == true)
        #expect(bench.store.isDamaged)
    }

    @Test(arguments: ["actors", "containers", "components", "purges", "trimmed"])
    func `a number that is gone keeps nobody from writing`(name: String) throws {
        let bench = try reopened(after: "DELETE FROM meta WHERE name = '\(name)'")
        var entry = put("n", "x", in: "plays", epoch: 1)
        entry.actors = [Actor(number: 9, name: "unix:9")]
        #expect(bench.write(entry)?.sequence != nil)
        bench.write(
            Entry(
                container: "films", epoch: 1, time: 1,
                purges: [Purge(container: "films", component: "list")]))
        bench.store.waitForDeletion()
        #expect(try bench.store.recordRows() == 2)
        let told = try bench.store.notifications(after: 0, limit: 100).notifications.count
        bench.store.setRetention(Retention(count: 1))
        bench.store.waitForTrimming()
        #expect(bench.write(put("m", "x", in: "plays", epoch: 1))?.sequence != nil)
        bench.store.waitForTrimming()
        let left = try bench.store.notifications(after: 0, limit: 100).notifications.count
        #expect(name == "trimmed" ? left == told + 1 : left <= 2)
        #expect(bench.store.unavailability == nil)
    }

    @Test(arguments: [
        // Of all keys; of another component; of another item; of what was written later.
        "UPDATE purges SET last = x''", "UPDATE purges SET component = 2, first = x''",
        "UPDATE purges SET item = x'63' WHERE item <> x''", "UPDATE purges SET through = 1000",
    ])
    func `a purge that was changed deletes nothing, nor what it did not name`(sql: String) throws {
        let purges =
            sql.contains("item")
            ? [Purge(container: "films", component: "list", item: "b")]
            : [Purge(container: "films", component: "list", prefix: "a\n")]
        let bench = try reopened(after: sql, purges: purges)
        bench.write(put("d\n1", "new", epoch: 1))
        bench.store.waitForDeletion()
        #expect(try bench.store.recordRows() == Self.kept.count + 2)
        // Others are made as ever.
        bench.write(
            Entry(
                container: "books", epoch: 1, time: 1,
                purges: [Purge(container: "books", component: "list")]))
        bench.store.waitForDeletion()
        #expect(try bench.store.recordRows() == Self.kept.count + 1)
        let error = #expect(throws: StoreError.self) {
            try bench.store.erase(7, notifications: [])
        }
        #expect(error?.description.contains("1 row of the table purges (1)") == true, "\(error)")
    }

    @Test(arguments: [
        "UPDATE containers SET position = position + 1 WHERE name = 'films'",
        "UPDATE components SET records = records + 1 WHERE container = 1",
        "UPDATE meta SET value = 3 WHERE name = 'trimmed'",
    ])
    func `a row that was changed is found also after it was written again`(sql: String) throws {
        let bench = try reopened(after: sql)
        let damages = bench.store.damages
        #expect(damages.count == 1)
        for number in 0..<5 { bench.write(put("new \(number)", "x", epoch: 1)) }
        bench.store.waitForDeletion()
        _ = try bench.store.recordRows()
        bench.store.setRetention(Retention(count: 1))
        bench.store.waitForTrimming()
        #expect(try bench.store.trimmedThrough() > 3)
        bench.store.close()
        #expect(try Bench(bench.scratch).store.damages == damages)
    }

    @Test
    func `a file whose small tables are damaged is kept as it was once, before it is written to`()
        throws
    {
        let bench = try reopened(after: "UPDATE actors SET name = x'78' WHERE number = 8")
        let copy = "\(bench.scratch.database).damaged-tables"
        #expect(bench.store.damages.count == 1)
        #expect(bench.store.copies == [copy, "\(copy).txt"])
        let kept = try Data(contentsOf: URL(filePath: copy))
        let other = try OtherProgram(at: copy)
        #expect(try other.rows("SELECT CAST(name AS TEXT) FROM actors WHERE number = 8") == [["x"]])
        bench.write(put("new", "x", epoch: 1))
        bench.store.close()
        let again = try Bench(bench.scratch)
        #expect(again.store.damages.count == 1)
        #expect(try Data(contentsOf: URL(filePath: copy)) == kept)
        again.store.close()
        // Once it is repaired, the note tells of the copy until that is removed.
        try OtherProgram(at: again.scratch.database).execute(
            "UPDATE actors SET name = CAST('unix:1001' AS BLOB) WHERE number = 8")
        let repaired = try Bench(again.scratch)
        #expect(repaired.store.damages.count == 1)
        #expect(repaired.store.damages.first?.contains(copy) == true)
        for path in repaired.store.copies { try FileManager.default.removeItem(atPath: path) }
        #expect(repaired.store.damages == [])
    }

    @Test(arguments: ["", ".txt"], [true, false])
    func `the copy of damaged tables is not written to a file that a link leads to`(
        suffix: String, isThere: Bool
    ) throws {
        let folder = try TemporaryDirectory()
        let precious = "\(folder.path)/precious"
        if isThere { try folder.write("precious", "precious") }
        let scratch = try closed(after: "UPDATE actors SET name = x'78' WHERE number = 8")
        try #require(symlink(precious, "\(scratch.database).damaged-tables\(suffix)") == 0)
        let bench = try Bench(scratch)
        bench.write(put("new", "x", epoch: 1))
        bench.store.close()
        let content = try? String(contentsOfFile: precious, encoding: .utf8)
        #expect(content == (isThere ? "precious" : nil))
    }

    @Test func `a person whose name is damaged is nobody`() throws {
        let bench = try reopened(
            after: "UPDATE actors SET name = CAST('unix:0' AS BLOB) WHERE number = 8")
        #expect(try bench.store.actors() == [Actor(number: 7, name: "unix:1000")])
    }
}
