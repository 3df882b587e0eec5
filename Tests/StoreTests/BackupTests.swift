import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Copies of a store that goes on, and what becomes of them.
@Suite(.timeLimit(.minutes(3)))
struct BackupTests {
    /// The bytes of a backup.
    private static func bytes(_ backup: Backup) throws -> Data {
        var data = Data()
        while case let part = try backup.read(at: data.count, atMost: 10_000), !part.isEmpty {
            data.append(contentsOf: part)
        }
        return data
    }

    private static func names(_ scratch: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
    }

    /// Restores a file into a directory.
    @discardableResult
    private static func restore(
        _ data: Data, to target: TemporaryDirectory, replacing: Bool = false
    ) throws -> RestoredStore {
        let source = try TemporaryDirectory()
        let path = try source.write("backup", data)
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return try StoreRestore(from: descriptor, named: "backup", to: target.path).run(
            replacing: replacing)
    }

    private static func filled(_ count: Int = 50) throws -> Bench {
        let bench = try Bench()
        for number in 0..<count { bench.store.append(put("k\(number)", "v\(number)"), ticket: 0) }
        bench.settle()
        return bench
    }

    /// A backup of a store with so many entries.
    private static func backup(_ count: Int = 50) throws -> Data {
        let bench = try filled(count)
        defer { bench.store.close() }
        return try bytes(BackupMaking().make(of: bench.store))
    }

    @Test func `a backup is a whole store of one moment, and leaves nothing beside the store`()
        throws
    {
        let bench = try Self.filled()
        let before = try Self.names(bench.scratch)
        let backup = try BackupMaking().make(of: bench.store)
        #expect(try Self.names(bench.scratch) == before, "its file has no name")
        bench.write(put("later", "not in it"))
        let data = try Self.bytes(backup)
        #expect(data.count == backup.bytes)
        #expect(backup.sequence == 50)
        #expect(backup.identity == bench.store.identity)

        let target = try TemporaryDirectory()
        let restored = try Self.restore(data, to: target)
        #expect(restored.sequence == 50)
        #expect(restored.kept == nil)
        let copy = try Bench(target)
        #expect(copy.store.identity == restored.identity)
        #expect(copy.store.identity != bench.store.identity)
        #expect(copy.store.lastSequence == 50)
        var records = try bench.records("films", "list")
        records["later"] = nil
        #expect(try copy.records("films", "list") == records)
        #expect(
            try copy.store.notifications(after: 0, limit: 100).notifications
                == bench.store.notifications(after: 0, limit: 50).notifications)
        #expect(try Self.names(target).filter { $0.hasPrefix("atrium.restore") } == [])
    }

    @Test func `what was purged is not in a backup, though its rows were not deleted yet`() throws {
        let bench = try Self.filled(0)
        for number in 0..<3_000 {
            bench.store.append(put("k\(number)", "secret-\(number)"), ticket: 0)
        }
        var purge = put("kept", "other")
        purge.purges = [Purge(container: "films", component: "list", prefix: "k")]
        bench.store.append(purge, ticket: 0)
        bench.settle()
        let data = try Self.bytes(BackupMaking().make(of: bench.store))
        #expect(data.range(of: Data("secret-".utf8)) == nil)
        #expect(data.range(of: Data("other".utf8)) != nil)
    }

    @Test(arguments: [
        ("UPDATE meta SET rowsum = rowsum + 1 WHERE name = 'actors'", "table meta (actors)"),
        ("UPDATE records SET value = x'00' WHERE sequence = 7", "1 record of films/list"),
        ("UPDATE entries SET time = time + 1 WHERE sequence = 9", "entry 9 of the log"),
        ("DELETE FROM entries WHERE sequence = 9", "1 entry of the log is missing"),
        ("DELETE FROM entries WHERE sequence BETWEEN 1 AND 3", "3 entries of the log are missing"),
        ("DELETE FROM entries WHERE sequence > 48", "2 entries of the log are missing"),
    ])
    func `a damaged store is not copied, and it is said what is damaged`(
        sql: String, reason: String
    ) throws {
        let bench = try Self.filled()
        bench.store.close()
        let file = try DatabaseQueue(path: bench.scratch.database)
        try file.write { try $0.execute(sql: sql) }
        try file.close()
        let again = try Bench(bench.scratch)
        let before = try Self.names(again.scratch)
        let error = #expect(throws: BackupError.self) { try BackupMaking().make(of: again.store) }
        guard case .store(.corrupt(_, let found))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found.contains(reason), "\(found)")
        #expect(try Self.names(again.scratch) == before)
        #expect(!again.store.isDamaged, "it is written to as before")
    }

    @Test func `one that was cancelled throws, and leaves nothing`() throws {
        let bench = try Self.filled()
        let before = try Self.names(bench.scratch)
        let making = BackupMaking()
        making.cancel()
        #expect(throws: BackupError.cancelled) { try making.make(of: bench.store) }
        #expect(try Self.names(bench.scratch) == before)
        bench.store.close()
        #expect(throws: BackupError.store(.closed(file: bench.scratch.database))) {
            try BackupMaking().make(of: bench.store)
        }
    }

    @Test func `what a killed process left of backups and restores is removed, nothing else`()
        throws
    {
        let scratch = try TemporaryDirectory()
        let id = UUID().uuidString.lowercased()
        let own = [
            "atrium.backup-2026-11-28", "atrium.backup-\(id).gz", "atrium.restore-y", "mine",
        ]
        let left = ["atrium.backup-\(id)", "atrium.backup-\(id)-journal", "atrium.restore-\(id)"]
        for name in own + left { try scratch.write(name, "left") }
        let bench = try Bench(scratch)
        let names = try Self.names(scratch).filter { !$0.hasPrefix("atrium.sqlite") }
        #expect(names.sorted() == (own + ["atrium.lock", "atrium.reserve"]).sorted())
        bench.store.close()
    }

    @Test func `a lock that is a link is refused, and the file that it leads to stays as it is`()
        throws
    {
        let scratch = try TemporaryDirectory()
        let precious = try scratch.write("precious", "precious")
        let lock = "\(scratch.path)/atrium.lock"
        try #require(symlink(precious, lock) == 0)
        let refusal = RestoreError.store(.noFile(path: lock, kind: "a symbolic link"))
        #expect(throws: refusal) { try Self.restore(try Self.backup(), to: scratch) }
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
    }

    @Test func `damage that a store knows of is known until another one is in its place`() throws {
        let bench = try Self.filled(3)
        let scratch = bench.scratch
        bench.store.close()
        let note = try scratch.write("atrium.sqlite.damaged-database.txt", "it was damaged\n")
        let (kept, obsolete) = try StateFolder.preserveFiles(of: scratch.path, for: "another")
        #expect(
            FileManager.default.fileExists(atPath: kept + "/atrium.sqlite.damaged-database.txt"))
        #expect(obsolete == [note])
        let again = try Bench(scratch)
        #expect(again.store.damages == ["it was damaged"])
        again.store.close()

        try Self.restore(try Self.backup(), to: scratch, replacing: true)
        let restored = try Bench(scratch)
        #expect(restored.store.damages == [])
        restored.store.close()
    }

    @Test func `a store that is there is refused, or kept whole with its log`() throws {
        let data = try Self.backup()
        let bench = try Self.filled(7)
        let target = bench.scratch
        // Ends like a killed process: what was committed is in the log.
        bench.store.abandon()
        let log = try Data(contentsOf: URL(filePath: target.database + "-wal"))
        let before = try Self.names(target)
        #expect(throws: RestoreError.storeThere(file: target.database)) {
            try Self.restore(data, to: target)
        }
        #expect(try Self.names(target) == before)

        let restored = try Self.restore(data, to: target, replacing: true)
        let kept = try #require(restored.kept)
        if !log.isEmpty {
            #expect(try Data(contentsOf: URL(filePath: kept + "/atrium.sqlite-wal")) == log)
        }
        let now = try Bench(target)
        #expect(now.store.lastSequence == 50)
        now.store.close()
        let old = try Store(at: kept, logger: quiet) { _ in }
        #expect(old.lastSequence == 7)
        #expect(old.identity == bench.store.identity)
        old.close()
    }

    @Test func `a restore that ends before the log of before could be taken in is reported`() throws
    {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        _ = try bench.store.pragma("wal_checkpoint(TRUNCATE)")
        bench.write(put("a", "x"))
        bench.store.abandon()
        // Somebody reads: the log can't be taken in.
        let reader = try DatabasePool(path: scratch.database)
        let (kept, obsolete) = try reader.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entries")
            return try StateFolder.preserveFiles(of: scratch.path, for: "another")
        }
        try reader.close()
        #expect(obsolete.map { $0.hasSuffix(".damaged-restore.txt") } == [true])
        #expect(FileManager.default.fileExists(atPath: "\(kept)/atrium.sqlite-wal"))
        let again = try Bench(scratch)
        #expect(again.store.damages.count == 1)
        #expect(again.store.damages.first?.contains("Restore again") == true)
        #expect(again.store.damages.first?.contains(kept) == true)
    }

    @Test func `a restore that ends after the damaged log of before was taken in is reported`()
        throws
    {
        let bench = try Bench()
        _ = try bench.store.pragma("wal_checkpoint(TRUNCATE)")
        for number in 0..<20 { bench.write(put("\(number)", "x")) }
        var files = try StoreFiles(of: bench.scratch)
        files.log[LogFrames(files.log).offset(of: 4) + 30] ^= 8
        let scratch = try files.written()
        let (kept, obsolete) = try StateFolder.preserveFiles(of: scratch.path, for: "another")
        #expect(obsolete.map { $0.hasSuffix(".damaged-restore.txt") } == [true])
        let log = try Data(contentsOf: URL(filePath: "\(kept)/atrium.sqlite-wal"))
        #expect(log == files.log)
        #expect(try Self.names(scratch).contains("atrium.sqlite-wal") == false)
        let again = try Bench(scratch)
        #expect(again.store.damages.count == 1)
        #expect(again.store.damages.first?.contains("Restore again") == true)
    }

    @Test func `a restore that ends before it could remove its note is not reported`() throws {
        let bench = try Self.filled(3)
        let (identity, file) = (bench.store.identity, bench.scratch.database)
        bench.store.close()
        var note = try KeptDamage.noteLog(of: file, isKeptIn: "before", until: "another")
        let other = try Bench(bench.scratch)
        #expect(other.store.damages.count == 1)
        other.store.close()
        note = try KeptDamage.noteLog(of: file, isKeptIn: "before", until: identity)
        #expect(try Bench(bench.scratch).store.damages == [])
        #expect(!FileManager.default.fileExists(atPath: note))
    }

    @Test func `a store that is in use is left alone`() throws {
        let data = try Self.backup()
        let bench = try Self.filled(3)
        let lock = bench.scratch.path + "/atrium.lock"
        #expect(throws: RestoreError.store(.inUse(file: lock, owner: "\(getpid())"))) {
            try Self.restore(data, to: bench.scratch, replacing: true)
        }
        #expect(bench.write(put("more", "still"))?.sequence == 4)
    }

    @Test func `a file that is no whole backup is refused, and nothing is changed`() throws {
        let data = try Self.backup(2_000)
        let target = try TemporaryDirectory()
        func refusal(_ data: Data) -> RestoreError? {
            #expect(throws: RestoreError.self) { try Self.restore(data, to: target) }
        }
        #expect(refusal(Data()) == .foreign(file: "backup", reason: "it is empty"))
        #expect(
            refusal(Data("atrium".utf8))
                == .foreign(file: "backup", reason: "it is no SQLite database"))
        #expect(
            refusal(data.prefix(40)) == .truncated(file: "backup", bytes: 40, expected: 100))
        #expect(
            refusal(data.dropLast(1_000))
                == .truncated(file: "backup", bytes: data.count - 1_000, expected: data.count))
        #expect(
            refusal(data + Data([0]))
                == .truncated(file: "backup", bytes: data.count + 1, expected: data.count))
        // A header that asks for more than any disk has: it is the header that is wrong.
        var boundless = data
        boundless[28] = 0x7F
        let pages = boundless[28..<32].reduce(0) { $0 << 8 | Int($1) }
        #expect(
            refusal(boundless)
                == .truncated(file: "backup", bytes: data.count, expected: pages * 4_096))
        var foreign = data
        foreign[70] ^= 1
        #expect(
            refusal(foreign)
                == .foreign(file: "backup", reason: "it is a database of another program"))
        var damaged = data
        // The beginning of a page: of what kind it is.
        for page in stride(from: 8_192, to: data.count, by: 4_096) { damaged[page] ^= 0xFF }
        guard case .damaged? = refusal(damaged) else {
            Issue.record("damaged pages were not found")
            return
        }
        #expect(try Self.names(target) == ["atrium.lock"])
    }

    @Test func `a record, a count or an entry that is not what was written is found`() throws {
        let whole = try Self.backup()
        let target = try TemporaryDirectory()
        for (sql, reason) in [
            (
                "UPDATE records SET value = x'00' WHERE sequence = 7",
                "1 record of films/list does not match its checksum"
            ),
            (
                "DELETE FROM records WHERE sequence = 8",
                "films/list has 49 records instead of 50, or wrong ones"
            ),
            (
                "UPDATE entries SET time = time + 1 WHERE sequence = 9",
                "entry 9 of the log does not match its checksum"
            ),
            ("DELETE FROM entries WHERE sequence = 9", "1 entry of the log is missing"),
            ("DELETE FROM entries WHERE sequence = 50", "1 entry of the log is missing"),
        ] {
            #expect(throws: RestoreError.damaged(file: "backup", reason: reason)) {
                try Self.restore(Self.changed(whole, sql), to: target)
            }
        }
        #expect(try Self.names(target) == ["atrium.lock"])
    }

    @Test(arguments: [
        ("UPDATE grdb_migrations SET identifier = 'v2'", "no such table: notifications"),
        ("DROP TABLE probe", "no such table: probe"),
        ("DELETE FROM grdb_migrations", "it does not name its format"),
    ])
    func `a backup without the tables of the format that it names is refused`(
        sql: String, said: String
    ) throws {
        let target = try TemporaryDirectory()
        let backup = try Self.changed(Self.backup(), sql)
        let error = #expect(throws: RestoreError.self) { try Self.restore(backup, to: target) }
        guard case .damaged(_, let reason)? = error else { throw error ?? CancellationError() }
        #expect(reason.contains(said))
        #expect(try Self.names(target) == ["atrium.lock"])
    }

    /// A backup after somebody wrote to it.
    private static func changed(_ whole: Data, _ sql: String) throws -> Data {
        let scratch = try TemporaryDirectory()
        let path = try scratch.write("changed", whole)
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        return try Data(contentsOf: URL(filePath: path))
    }

    @Test func `a backup by a newer version, and one that would run code, are refused`() throws {
        let whole = try Self.backup()
        let target = try TemporaryDirectory()
        let newer = try Self.changed(whole, "INSERT INTO grdb_migrations VALUES ('v99')")
        #expect(throws: RestoreError.newer(file: "backup", migrations: ["v99"])) {
            try Self.restore(newer, to: target)
        }
        let trigger = try Self.changed(
            whole, "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM records; END")
        #expect(throws: RestoreError.foreign(file: "backup", reason: "it has triggers or views")) {
            try Self.restore(trigger, to: target)
        }
        #expect(try Self.names(target) == ["atrium.lock"])
    }
}
