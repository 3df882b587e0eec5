import Foundation
import TestSupport
import Testing

@testable import Store

/// Files of an open store that are removed or replaced: SQLite alone would go on with what it has open.
@Suite(.timeLimit(.minutes(2))) struct LostFileTests {
    private func expectRefused(_ bench: Bench, naming path: String) {
        guard case .damaged(let reason)? = bench.write(put("lost", "x", epoch: 9))?.failure else {
            Issue.record("a change was taken without \(path)")
            return
        }
        #expect(reason.hasPrefix("\(path) was removed or replaced"))
        #expect(bench.store.unavailability == reason && bench.store.isDamaged)
    }

    @Test(arguments: ["atrium.sqlite", "atrium.sqlite-wal", "atrium.lock"])
    func `no change is taken once a file of the open store is gone`(name: String) throws {
        let bench = try Bench()
        let path = "\(bench.scratch.path)/\(name)"
        try FileManager.default.removeItem(atPath: path)
        expectRefused(bench, naming: path)
        bench.store.close()
        // No note of damage is written where another store may be.
        #expect(bench.store.copies == [])
    }

    @Test func `a stop leaves no trace of a store where its files were removed`() throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        let folder = bench.scratch.path
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        bench.store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        #expect(try Bench(bench.scratch).records("films", "list") == [:])
    }

    @Test func `files that can't be looked at for now do not count as gone`() throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        // Their folder is a link to itself for a while, by which nobody gets anywhere.
        let (folder, aside) = (bench.scratch.path, "\(bench.scratch.path).aside")
        try FileManager.default.moveItem(atPath: folder, toPath: aside)
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: folder)
        bench.store.checkFiles()
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: aside, toPath: folder)
        #expect(bench.write(put("b", "x"))?.sequence == 2)
        #expect(!bench.store.isDamaged)
    }

    @Test func `what was acknowledged before the log was removed is there after a stop`() throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        let log = "\(bench.scratch.database)-wal"
        try FileManager.default.removeItem(atPath: log)
        bench.store.checkFiles()
        expectRefused(bench, naming: log)
        bench.store.close()
        let again = try Bench(bench.scratch)
        #expect(again.store.damages == [])
        #expect(try again.records("films", "list") == ["a": "x"])
        #expect(again.write(put("b", "x"))?.sequence == 2)
    }

    @Test func `an erasure does not overwrite a log that was just replaced`() throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        let (database, log) = (bench.scratch.database, "\(bench.scratch.database)-wal")
        let own = OwnFiles(of: database)
        try FileManager.default.moveItem(atPath: log, toPath: "\(log).aside")
        try Data("another store's".utf8).write(to: URL(filePath: log))
        #expect(throws: (any Error).self) {
            try OwnLog(of: database).overwrite(after: 0, files: own)
        }
        #expect(try Data(contentsOf: URL(filePath: log)) == Data("another store's".utf8))
    }

    /// Changes a file in place, as `cp` and `truncate` do.
    private func overwrite(_ path: String, with data: Data, cutAt size: UInt64? = nil) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        if let size { try file.truncate(atOffset: size) }
        try file.write(contentsOf: data)
        try file.close()
    }

    @Test(
        arguments: [
            ("", UInt64(0), Data()), ("", 0, Data(count: 8_192)), ("", nil, Data(count: 100)),
            ("-wal", 0, Data()), ("-wal", 8_272, Data()), ("-wal", nil, Data(count: 4_096)),
        ] as [(String, UInt64?, Data)])
    func `no change is taken and nothing lost once a file is cut or overwritten in place`(
        suffix: String, size: UInt64?, data: Data
    ) throws {
        let bench = try Bench()
        bench.write(put("a", "x"))
        let (path, log) = (bench.scratch.database + suffix, "\(bench.scratch.database)-wal")
        try overwrite(path, with: data, cutAt: size)
        let left = try Data(contentsOf: URL(filePath: log))
        let gone = StoreError.gone(file: path)
        #expect(throws: gone) { try QuickCheck(of: bench.store) }
        #expect(throws: BackupError.store(gone)) { try BackupMaking().make(of: bench.store) }
        let answer = bench.write(put("lost", "x", epoch: 9))
        guard case .damaged(let reason)? = answer?.failure else {
            Issue.record("a change was taken")
            return
        }
        #expect(reason.hasPrefix(path) && reason.contains("another program wrote to it"))
        bench.store.close()
        #expect(try Data(contentsOf: URL(filePath: log)) == left)
    }

    @Test func `a backup that is copied over the database is found before the log is copied`()
        throws
    {
        let bench = try Bench()
        bench.write(put("a", "x"))
        _ = try bench.store.pragma("wal_checkpoint(TRUNCATE)")
        let backup = try BackupMaking().make(of: bench.store)
        let copy = Data(try backup.read(at: 0, atMost: backup.bytes))
        try overwrite(bench.scratch.database, with: copy, cutAt: 0)
        #expect(throws: StoreError.gone(file: bench.scratch.database)) {
            try QuickCheck(of: bench.store)
        }
    }

    @Test func `copying the log, giving back pages and an erasure do not count as foreign`() throws
    {
        let bench = try Bench()
        for mode in ["PASSIVE", "RESTART", "TRUNCATE"] {
            for key in 0..<50 {
                bench.write(put("\(mode)\(key)", String(repeating: "x", count: 999)))
            }
            _ = try bench.store.pragma("wal_checkpoint(\(mode))")
            _ = try QuickCheck(of: bench.store)
        }
        for key in 0..<50 { bench.write(put("PASSIVE\(key)", nil)) }
        try bench.store.erase(7, notifications: [])
        _ = try QuickCheck(of: bench.store)
        #expect(bench.write(put("last", "x"))?.sequence != nil)
        #expect(!bench.store.isDamaged)
    }

    @Test
    func `a store that takes the place of an open one is neither written nor copied`() throws {
        let other = try Bench()
        for key in ["a", "b"] { other.write(put(key, "other")) }
        let files = try StoreFiles(of: other.scratch)
        #expect(!files.log.isEmpty)
        let bench = try Bench()
        let file = bench.scratch.database
        bench.write(put("c", "own"))
        for suffix in ["", "-wal"] { try FileManager.default.removeItem(atPath: file + suffix) }
        try files.write(to: bench.scratch)
        let gone = StoreError.gone(file: file)
        #expect(throws: BackupError.store(gone)) { try BackupMaking().make(of: bench.store) }
        #expect(throws: gone) { try QuickCheck(of: bench.store) }
        expectRefused(bench, naming: file)
        #expect(throws: StoreError.self) { try bench.store.erase(7, notifications: []) }
        bench.store.close()
        let now = try StoreFiles(of: bench.scratch)
        #expect(now.database == files.database && now.log == files.log)
        let again = try Bench(bench.scratch)
        #expect(again.store.identity == other.store.identity && again.store.damages == [])
        #expect(try again.records("films", "list") == ["a": "other", "b": "other"])
    }
}
