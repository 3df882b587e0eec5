import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// Files that the versions before wrote.
@Suite(.timeLimit(.minutes(2))) struct MigrationTests {
    static let identity = "0b2e5f0e-6c1c-4d0e-9d53-0f2f7f6f9a10"

    /// Makes a store as version 0.2 wrote it: these are its statements.
    static func makeOld(in scratch: TemporaryDirectory, purges: Bool = false) throws {
        let script = """
            CREATE TABLE grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES ('v1');
            CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
            CREATE TABLE containers(
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL);
            CREATE TABLE components(
                id INTEGER PRIMARY KEY, container INTEGER NOT NULL REFERENCES containers,
                name TEXT NOT NULL, UNIQUE(container, name));
            CREATE TABLE entries(
                sequence INTEGER PRIMARY KEY, container INTEGER NOT NULL, position INTEGER NOT NULL,
                time INTEGER NOT NULL, actor INTEGER);
            CREATE TABLE records(
                component INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
                sequence INTEGER NOT NULL, created INTEGER NOT NULL,
                PRIMARY KEY(component, key)) WITHOUT ROWID;
            CREATE TABLE notifications(
                sequence INTEGER PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL,
                restricted BLOB);
            CREATE TABLE actors(number INTEGER PRIMARY KEY, name BLOB NOT NULL);
            CREATE TABLE probe(id INTEGER PRIMARY KEY, filler BLOB NOT NULL);
            INSERT INTO meta VALUES ('identity', '\(Self.identity)'), ('trimmed', 1);
            INSERT INTO containers VALUES (1, '', 0), (2, 'films', 4);
            INSERT INTO components VALUES (1, 2, 'list'), (2, 2, 'stars');
            INSERT INTO entries VALUES
                (2, 2, 2, 1000, 7), (3, 2, 3, 1001, NULL), (4, 2, 4, 1002, 7);
            INSERT INTO records VALUES
                (1, x'61', CAST('Alien' AS BLOB), 3, 1), (1, x'6200', x'', 3, 3),
                (2, x'61', CAST('5' AS BLOB), 4, 4);
            INSERT INTO notifications VALUES
                (2, 'films.items.put', x'01', NULL), (4, 'films.votes.cast', x'02', x'03');
            INSERT INTO actors VALUES (7, CAST('unix:1000' AS BLOB));
            """
        let file = try DatabaseQueue(path: scratch.database)
        try file.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: script)
            try db.execute(sql: "PRAGMA application_id = \(0x4174_726D)")
            guard purges else { return }
            try db.execute(
                sql: """
                    INSERT INTO grdb_migrations VALUES ('v2');
                    CREATE TABLE purges(
                        id INTEGER PRIMARY KEY, component INTEGER NOT NULL, item BLOB NOT NULL,
                        first BLOB NOT NULL, last BLOB NOT NULL, through INTEGER NOT NULL);
                    CREATE UNIQUE INDEX purges_place ON purges(component, item, last);
                    INSERT INTO purges VALUES (1, 2, x'', x'', x'', 4);
                    """)
        }
        try file.close()
    }

    @Test(arguments: [false, true])
    func `a store of the version before has all it had, and goes on`(purges: Bool) throws {
        let scratch = try TemporaryDirectory()
        try Self.makeOld(in: scratch, purges: purges)
        let bench = try Bench(scratch)
        #expect(bench.store.identity == Self.identity)
        #expect(bench.store.lastSequence == 4)
        #expect(try bench.records("films", "list") == ["a": "Alien", "b\0": ""])
        #expect(try bench.records("films", "stars") == (purges ? [:] : ["a": "5"]))
        #expect(try bench.store.actors() == [Actor(number: 7, name: "unix:1000")])
        #expect(try bench.store.trimmedThrough() == 1)
        #expect(try bench.store.notifications(after: 0, limit: 9).missing.isEmpty)
        let told = try bench.store.notifications(after: 0, limit: 9).notifications
        #expect(told.map(\.sequence) == [2, 4])
        #expect(told.map(\.actor) == [7, 7])
        #expect(told.last?.restricted == [3])
        #expect(!told.contains { $0.isDamaged })
        let difference = try bench.store.forEachRecord(container: "films", component: "list") {
            _, _, _ in
        }
        #expect(difference == nil)
        #expect(bench.write(put("c", "Heat"))?.sequence == 5)
        #expect(try bench.store.position(of: "films") == 5)
        bench.store.waitForDeletion()
        #expect(try bench.store.recordRows() == (purges ? 3 : 4))
        #expect(try BackupMaking().make(of: bench.store).sequence == 5)
        bench.store.close()
        #expect(try Bench(scratch).records("films", "list")["c"] == "Heat")
    }

    @Test(arguments: [false, true])
    func `the file of a stopped store of the version before is restored, as another store`(
        purges: Bool
    ) throws {
        let (old, scratch) = (try TemporaryDirectory(), try TemporaryDirectory())
        try Self.makeOld(in: old, purges: purges)
        let descriptor = open(old.database, O_RDONLY)
        defer { close(descriptor) }
        let restored = try StoreRestore(
            from: descriptor, named: old.database, to: scratch.path
        ).run(replacing: false)
        #expect(restored.sequence == 4 && restored.identity != Self.identity)
        let bench = try Bench(scratch)
        #expect(bench.store.identity == restored.identity)
        #expect(bench.store.damages == [])
        #expect(try bench.records("films", "list") == ["a": "Alien", "b\0": ""])
        #expect(try bench.records("films", "stars") == (purges ? [:] : ["a": "5"]))
        #expect(bench.write(put("c", "Heat"))?.sequence == 5)
    }

    /// All rows of a file, as text.
    private func rows(of path: String) throws -> [String] {
        let file = try DatabaseQueue(path: path)
        defer { try? file.close() }
        return try file.read { db in
            try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
            ).flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { "\(table): \($0)" }
            }
        }
    }

    @Test func `the old file is kept with all it had, under the name of its format`() throws {
        let scratch = try TemporaryDirectory()
        try Self.makeOld(in: scratch)
        let before = try rows(of: scratch.database)
        try Bench(scratch).store.close()
        #expect(try rows(of: "\(scratch.database).v1") == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(names == ["atrium.lock", "atrium.reserve", "atrium.sqlite", "atrium.sqlite.v1"])
    }

    @Test(arguments: [
        "DELETE FROM meta WHERE name = 'identity'", "UPDATE containers SET position = 'x'",
        "UPDATE components SET name = x'ff' WHERE id = 1", "UPDATE actors SET name = 5",
        "UPDATE entries SET time = 'x'", "UPDATE entries SET actor = 'x'",
        "UPDATE notifications SET payload = 'x'", "UPDATE notifications SET topic = x'ff'",
        "UPDATE records SET created = 'x'", "UPDATE records SET value = 5",
        "UPDATE purges SET through = 'x'", "UPDATE purges SET item = 'x'",
    ])
    func `a damaged old file is refused, and keeps all it had`(sql: String) throws {
        let scratch = try TemporaryDirectory()
        try Self.makeOld(in: scratch, purges: true)
        let file = try DatabaseQueue(path: scratch.database)
        try file.write { db in try db.execute(sql: sql) }
        try file.close()
        let before = try rows(of: scratch.database)
        #expect(throws: StoreError.self) { try Bench(scratch) }
        #expect(try rows(of: scratch.database) == before)
    }

    @Test(.enabled(if: getuid() == 0, "only root may mount a file system that is small"))
    func `without room it is refused with the bytes that it needs, and the old file stays`()
        throws
    {
        let scratch = try TemporaryDirectory()
        #expect(mount("small", scratch.path, "tmpfs", 0, "size=512k") == 0)
        defer { umount2(scratch.path, Int32(MNT_DETACH)) }
        try Self.makeOld(in: scratch)
        let before = try rows(of: scratch.database)
        let error = #expect(throws: StoreError.self) { try Bench(scratch) }
        let size = try Data(contentsOf: URL(filePath: scratch.database)).count
        guard case .full("\(scratch.database).new", let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("needs \(2 * size + 1 << 20) bytes"))
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(!names.contains { $0.contains(".new") || $0.contains(".v1") }, "\(names)")
        #expect(try rows(of: scratch.database) == before)
        #expect(mount("small", scratch.path, "tmpfs", UInt(MS_REMOUNT), "size=16m") == 0)
        let bench = try Bench(scratch)
        #expect(try bench.records("films", "list").count == 2)
        bench.store.close()
    }

    @Test func `what a migration that was cut short has left is no hindrance`() throws {
        let scratch = try TemporaryDirectory()
        try Self.makeOld(in: scratch)
        for suffix in ["", "-wal", "-shm"] {
            try Data("rest".utf8).write(
                to: URL(fileURLWithPath: "\(scratch.database).new\(suffix)"))
        }
        #expect(try Bench(scratch).records("films", "list").count == 2)
    }
}
