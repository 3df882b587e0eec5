import Foundation
import GRDB
import Store
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct OpeningTests {
    /// What opening a store there fails with.
    private func refusal(at path: String) -> StoreError? {
        do throws(StoreError) {
            _ = try Store(at: path, logger: quiet) { _ in }
            return nil
        } catch {
            return error
        }
    }

    @Test func `a second opener is refused until the first one closes`() throws {
        let bench = try Bench()
        let file = "\(bench.scratch.path)/atrium.lock"
        let error = refusal(at: bench.scratch.path)
        #expect(error == .inUse(file: file, owner: "\(getpid())"))
        #expect(error?.description.contains("process \(getpid())") == true)
        #expect(bench.write(put("a", "x"))?.sequence == 1)
        bench.store.close()
        #expect(refusal(at: bench.scratch.path) == nil)
    }

    @Test func `a file of a newer version is refused and left as it is`() throws {
        let bench = try Bench()
        bench.store.close()
        try DatabaseQueue(path: bench.scratch.database).write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('v9')")
        }
        let before = try Data(contentsOf: URL(filePath: bench.scratch.database))
        let newer = StoreError.newerSchema(file: bench.scratch.database, migrations: ["v9"])
        #expect(refusal(at: bench.scratch.path) == newer)
        #expect(newer.description.contains("v9"))
        #expect(try Data(contentsOf: URL(filePath: bench.scratch.database)) == before)
        try DatabaseQueue(path: bench.scratch.database).write { db in
            try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'v9'")
        }
        #expect(refusal(at: bench.scratch.path) == nil)
    }

    @Test func `a database of another program is refused and left as it is`() throws {
        let scratch = try TemporaryDirectory()
        try DatabaseQueue(path: scratch.database).write { db in
            try db.execute(sql: "CREATE TABLE mine(x)")
        }
        let before = try Data(contentsOf: URL(filePath: scratch.database))
        #expect(refusal(at: scratch.path) == .foreign(file: scratch.database))
        // Not even its journal is another one.
        #expect(try Data(contentsOf: URL(filePath: scratch.database)) == before)
    }

    @Test func `a file that is no database is refused as damaged`() throws {
        let scratch = try TemporaryDirectory()
        try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: scratch.database))
        guard case .corrupt(let file, _)? = refusal(at: scratch.path) else {
            Issue.record("garbage was opened")
            return
        }
        #expect(file == scratch.database)
    }

    /// No byte of it makes SQLite say that the disk or somebody's rights are to blame, nor that a file may only be read.
    @Test func `a damaged header is called damage, or makes no difference`() throws {
        let bench = try Bench()
        for number in 0..<20 { _ = bench.write(put("\(number)", "x")) }
        bench.store.close()
        let whole = try Data(contentsOf: URL(filePath: bench.scratch.database))
        var found = Set<Int>()
        for place in 0..<100 {
            for value in Set([0, 3, 0xFF, whole[place] ^ 1, whole[place] ^ 0x80]) {
                let scratch = try TemporaryDirectory()
                var bytes = whole
                bytes[place] = value
                try bytes.write(to: URL(filePath: scratch.database))
                switch refusal(at: scratch.path) {
                case nil: break
                case .corrupt: found.insert(place)
                // The number of the program that the file belongs to.
                case .foreign where 68..<72 ~= place: break
                case let error?: Issue.record("byte \(place) is \(value): \(error)")
                }
            }
        }
        #expect(found.isSuperset(of: [0, 16, 18, 19, 47]), "\(found.sorted())")
    }

    @Test(arguments: ["atrium.sqlite", "atrium.sqlite-wal", "atrium.lock"])
    func `something else in place of a file of the store is named`(name: String) throws {
        let scratch = try TemporaryDirectory()
        let path = "\(scratch.path)/\(name)"
        try #require(mkdir(path, 0o700) == 0)
        #expect(refusal(at: scratch.path) == .noFile(path: path, kind: "a folder"))
        try #require(rmdir(path) == 0)
        try #require(mkfifo(path, 0o600) == 0)
        #expect(refusal(at: scratch.path) == .noFile(path: path, kind: "a named pipe"))
        unlink(path)
        #expect(refusal(at: scratch.path) == nil)
    }

    @Test func `a store with a log opens although no table could be created in it`() throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        bench.store.close()
        let (size, free) = try DatabaseQueue(path: bench.scratch.database).writeWithoutTransaction {
            db in
            try db.execute(sql: "CREATE TABLE junk(x); INSERT INTO junk VALUES (zeroblob(100000))")
            try db.execute(sql: "DROP TABLE junk")
            return (
                try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0,
                try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            )
        }
        #expect(free > 0)
        var files = try StoreFiles(of: bench.scratch)
        // The first page of the list of free pages, which then claims to name more pages than it has room for.
        let trunk = files.database[32..<36].reduce(0) { $0 << 8 | Int($1) }
        files.database.replaceSubrange(
            (trunk - 1) * size + 4..<(trunk - 1) * size + 8, with: [0x7f, 0xff, 0xff, 0xff])
        let scratch = try files.written()
        // Its log stays for as long as this has the file open.
        let other = try DatabaseQueue(path: scratch.database)
        try other.write { db in
            try db.execute(sql: "UPDATE meta SET value = value WHERE name = 'identity'")
        }
        #expect(throws: DatabaseError.self) {
            try other.write { db in try db.execute(sql: "CREATE TABLE more(x)") }
        }
        let again = try Bench(scratch)
        #expect(try again.store.containers() == ["films"])
        again.store.close()
        try other.close()
    }

    @Test func `a store without its identity is refused as damaged`() throws {
        let bench = try Bench()
        bench.store.close()
        try DatabaseQueue(path: bench.scratch.database).write { db in
            try db.execute(sql: "DELETE FROM meta WHERE name = 'identity'")
        }
        guard case .corrupt? = refusal(at: bench.scratch.path) else {
            Issue.record("a store without identity was opened")
            return
        }
    }

    @Test(arguments: [
        ("DROP TABLE records", "no such table: records"),
        ("DROP TABLE purges", "no such table: purges"),
        ("DROP TABLE actors", "no such table: actors"),
        ("DROP TABLE probe", "no such table: probe"),
        ("DROP INDEX purges_place", "no such index: purges_place"),
        ("ALTER TABLE entries DROP COLUMN changes", "no such column: changes"),
        ("DROP TABLE grdb_migrations", "does not name its format"),
        ("DELETE FROM grdb_migrations", "does not name its format"),
        ("UPDATE grdb_migrations SET identifier = 'v2'", "no such table: notifications"),
    ])
    func `a store without one of its tables or its mark is refused as damaged, and left as it is`(
        sql: String, said: String
    ) throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        bench.store.close()
        let file = try DatabaseQueue(path: bench.scratch.database)
        try file.write { db in try db.execute(sql: sql) }
        try file.close()
        let before = try Data(contentsOf: URL(filePath: bench.scratch.database))
        guard case .corrupt(bench.scratch.database, let reason)? = refusal(at: bench.scratch.path)
        else {
            Issue.record("it was opened after \(sql)")
            return
        }
        #expect(reason.contains(said))
        #expect(try Data(contentsOf: URL(filePath: bench.scratch.database)) == before)
    }

    @Test(arguments: ["gone", "empty", "blank"])
    func `a store whose database is lost is not begun anew, as long as its reserve is there`(
        loss: String
    ) throws {
        let bench = try Bench()
        let (path, file) = (bench.scratch.path, bench.scratch.database)
        bench.write(put("a", "x"))
        bench.store.close()
        try FileManager.default.removeItem(atPath: file)
        if loss == "empty" { try Data().write(to: URL(filePath: file)) }
        if loss == "blank" {
            try DatabaseQueue(path: file).write { db in
                try db.execute(sql: "PRAGMA user_version = 1")
            }
        }
        let before = FileManager.default.contents(atPath: file)
        for _ in 0..<2 {
            let error = try #require(refusal(at: path))
            #expect(error == .lost(file: file, mark: "\(path)/atrium.reserve"))
            #expect(error.description.contains("move \(path)/atrium.* away to start"))
            #expect(FileManager.default.contents(atPath: file) == before)
        }
        try FileManager.default.removeItem(atPath: "\(path)/atrium.reserve")
        let anew = try Bench(bench.scratch)
        #expect(anew.store.lastSequence == 0 && anew.store.identity != bench.store.identity)
    }

    @Test func `a first start that ended before it had made the tables is begun again`() throws {
        let scratch = try TemporaryDirectory()
        try scratch.write("atrium.lock", "1\n")
        try scratch.write("atrium.sqlite", "")
        let bench = try Bench(scratch)
        #expect(bench.write(put("a", "x"))?.sequence == 1)
    }

    @Test func `a directory that can't be made is named with the reason`() throws {
        let scratch = try TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: "\(scratch.path)/file"))
        let error = refusal(at: "\(scratch.path)/file/state")
        #expect(
            error == .notWritable(file: "\(scratch.path)/file/state", reason: "Not a directory"))
    }

    @Test func `a missing directory is made, and the file is for its owner alone`() throws {
        let scratch = try TemporaryDirectory()
        let store = try Store(at: "\(scratch.path)/a/b/", logger: quiet) { _ in }
        #expect(store.file == "\(scratch.path)/a/b/atrium.sqlite")
        for suffix in ["", "-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: store.file + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        store.close()
    }

    @Test func `two files have two identities`() throws {
        let identities = try [Bench(), Bench()].map(\.store.identity)
        #expect(Set(identities).count == 2)
        #expect(identities.allSatisfy { UUID(uuidString: $0) != nil })
    }
}
