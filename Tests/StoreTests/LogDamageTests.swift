import Foundation
import TestSupport
import Testing

@testable import Store

/// Damage of the write-ahead log, which SQLite passes over in silence.
@Suite(.timeLimit(.minutes(5))) struct LogDamageTests {
    // MARK: What is found

    @Test func `a flipped bit hides no committed transaction in silence`() throws {
        let bench = try checkpointed()
        for number in 0..<1_000 { bench.write(put("\(number)", "x")) }
        var copy = try StoreFiles(of: bench.scratch)
        let frames = LogFrames(copy.log)
        copy.log[frames.offset(of: frames.count / 2) + 100] ^= 1
        let scratch = try copy.written()
        let expected = try #require(try LogCheck(of: scratch.database)?.loss)
        #expect(expected.transactions > 400)
        #expect(expected.offset == Int64(frames.offset(of: frames.count / 2)))

        let opened = try Bench(scratch)
        let damage = try #require(opened.store.damages.first)
        #expect(opened.store.damages.count == 1)
        #expect(damage.contains("at least \(expected.transactions) committed transactions"))
        #expect(damage.contains("byte \(expected.offset)"))
        // Entries, and what follows them to the records.
        #expect(400..<600 ~= opened.store.lastSequence)
        #expect(opened.store.lastSequence + Int64(expected.transactions) >= 1_000)
        #expect(try opened.records("films", "list").count == Int(opened.store.lastSequence))
        #expect(opened.write(put("new", "x"))?.sequence == opened.store.lastSequence)
        try expectKept(copy, in: scratch)
    }

    @Test func `damage is reported until what was kept is removed, and only once`() throws {
        let bench = try checkpointed()
        for number in 0..<20 { bench.write(put("\(number)", "x")) }
        var copy = try StoreFiles(of: bench.scratch)
        copy.log[LogFrames(copy.log).offset(of: 4) + 30] ^= 8
        let scratch = try copy.written()
        var first = try Bench(scratch)
        let damages = first.store.damages
        #expect(damages.count == 1)
        first.write(put("new", "x"))
        // As after a kill: the log is still there, and frames that were lost would stand behind new ones.
        let again = try StoreFiles(of: scratch).written(keptBy: scratch)
        let second = try Bench(again)
        #expect(second.store.damages.count == 1)
        for name in try kept(in: again) {
            try FileManager.default.removeItem(atPath: "\(again.path)/\(name)")
        }
        #expect(second.store.damages.isEmpty)
        first.store.close()
        first = try Bench(scratch)
        #expect(first.store.damages == damages)
    }

    @Test func `a store whose log has lost entries gets another identity, once`() throws {
        let bench = try checkpointed()
        for number in 0..<20 { bench.write(put("\(number)", "x")) }
        var copy = try StoreFiles(of: bench.scratch)
        copy.log[LogFrames(copy.log).offset(of: 4) + 30] ^= 8
        let scratch = try copy.written()
        func identity() throws -> String {
            let bench = try Bench(scratch)
            defer { bench.store.close() }
            // The sequences of what was lost are given out again.
            #expect(bench.store.lastSequence < 20)
            return bench.store.identity
        }
        let first = try identity()
        #expect(first != bench.store.identity)
        #expect(try identity() == first)
        // As after a start that ended before it had written the identity.
        let note = try #require(try kept(in: scratch).last { $0.hasSuffix(KeptDamage.suffix) })
        let text = try String(contentsOfFile: "\(scratch.path)/\(note)", encoding: .utf8)
        #expect(text.split(separator: "\n").count == 1)
        try scratch.write(note, Data("\(text)\(KeptDamage.identityIsDue)\n".utf8))
        let second = try identity()
        #expect(second != first)
        #expect(try identity() == second)
    }

    @Test(arguments: [0, 1, 4, 10, 17, 25])
    func `a log whose header is damaged is not dropped in silence`(byte: Int) throws {
        let bench = try checkpointed()
        for number in 0..<20 { bench.write(put("\(number)", "x")) }
        var copy = try StoreFiles(of: bench.scratch)
        copy.log[byte] ^= 0x10
        let scratch = try copy.written()
        let damage = try Bench(scratch).store.damages.first ?? ""
        #expect(damage.contains("byte 0: of at least"), "\(damage)")
        try expectKept(copy, in: scratch)
    }

    /// Of every frame each part: what is lost is said, but where the end of a log may look like that after a crash.
    @Test func `a bit flipped in any frame is found, but for the last transaction`() throws {
        let bench = try Bench()
        for number in 0..<30 { bench.write(put("\(number)", String(repeating: "x", count: 3_000))) }
        let copy = try StoreFiles(of: bench.scratch)
        let frames = LogFrames(copy.log)
        let commits = frames.commits
        #expect(commits.count >= 30)
        let scratch = try copy.written()
        // Frames whose commit mark is followed by a whole other transaction.
        let proven = commits[commits.count - 3]
        for frame in 0..<frames.count {
            for byte in [1, 5, 9, 14, 17, 22, 24, 2_000, 4_119] {
                var damaged = copy
                damaged.log[frames.offset(of: frame) + byte] ^= 0x40
                try damaged.write(to: scratch)
                let check = try #require(try LogCheck(of: scratch.database))
                let before = commits.count { $0 < frame }
                #expect(check.transactions == before, "frame \(frame), byte \(byte)")
                if frame <= proven {
                    #expect(check.loss?.offset == Int64(frames.offset(of: frame)), "byte \(byte)")
                    let lost = check.loss?.transactions ?? 0
                    // A flipped commit mark makes one more or one less.
                    #expect(commits.count - before - 1...commits.count - before + 1 ~= lost)
                }
            }
        }
    }

    /// A young store's tables are in its log alone: without the log an administrator has nothing.
    @Test(arguments: [1, 32])
    func `a store whose tables are in a damaged log alone is not begun anew, and keeps it`(
        damaged: Int
    ) throws {
        let bench = try Bench()
        for number in 0..<20 { bench.write(put("\(number)", "x")) }
        var copy = try StoreFiles(of: bench.scratch)
        for byte in 0..<damaged { copy.log[byte] ^= 0x55 }
        let scratch = try copy.written()
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try Bench(scratch) }
            let text = error?.description ?? ""
            #expect(text.contains("committed transactions can't be read"), "\(text)")
            #expect(text.contains("keep the log"), "\(text)")
            #expect(
                text.contains("restore a backup, or move \(scratch.path)/atrium.* away"), "\(text)")
            let left = try StoreFiles(of: scratch)
            #expect(left.database == copy.database && left.log == copy.log)
            #expect(try kept(in: scratch) == [])
        }
        // Moved away, as the message says.
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path) {
            try FileManager.default.removeItem(atPath: "\(scratch.path)/\(name)")
        }
        #expect(try Bench(scratch).store.lastSequence == 0)
    }

    @Test func `a store whose log a start gave up before names the copies, which are to be kept`()
        throws
    {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        var young = try StoreFiles(of: scratch)
        young.log = Data()
        bench.store.close()
        try young.write(to: scratch)
        let note = try scratch.write(
            "atrium.sqlite.damaged-20260102T030405Z.txt", "12 transactions are lost\n")
        let error = #expect(throws: StoreError.self) { try Bench(scratch) }
        #expect(error?.description.contains("\(note) says what is kept") == true, "\(error)")
    }

    @Test func `a log without its database is no empty store`() throws {
        let bench = try Bench()
        for number in 0..<20 { bench.write(put("\(number)", "x")) }
        var copy = try StoreFiles(of: bench.scratch)
        copy.database = Data()
        for isThere in [true, false] {
            let scratch = try copy.written()
            if !isThere { try FileManager.default.removeItem(atPath: scratch.database) }
            let error = #expect(throws: StoreError.self) { try Bench(scratch) }
            guard case .corrupt(_, let reason)? = error else { throw error ?? CancellationError() }
            #expect(reason.contains(isThere ? "empty" : "gone"))
            #expect(FileManager.default.contents(atPath: "\(scratch.database)-wal") == copy.log)
        }
    }

    // MARK: What is no damage

    /// What a power cut may leave: of the last transaction, which was not synced, any sectors.
    @Test(arguments: 0..<20) func `a torn last transaction is no damage`(seed: Int) throws {
        var random = RepeatableRandom(UInt64(seed))
        let bench = try Bench()
        let isUsedAgain = Bool.random(using: &random)
        for number in 0..<Int.random(in: 3...40, using: &random) {
            bench.write(put("\(number)", String(repeating: "x", count: 1 << (number % 14))))
        }
        if isUsedAgain { _ = try bench.store.pragma("wal_checkpoint(RESTART)") }
        for number in 0..<Int.random(in: 1...20, using: &random) {
            bench.write(put("\(number)", "y"))
        }
        // What follows the entries is another transaction.
        _ = try bench.store.recordRows()
        let before = try StoreFiles(of: bench.scratch)
        let count = try #require(try written(before)?.transactions)
        bench.write(
            put(
                "last",
                String(repeating: "z", count: Int.random(in: 20_000...60_000, using: &random))))
        let after = try StoreFiles(of: bench.scratch)
        for _ in 0..<10 {
            var torn = after
            torn.tear(from: before, using: &random)
            let check = try #require(try written(torn))
            #expect(check.loss == nil)
            #expect([count, count + 1].contains(check.transactions))
        }
    }

    @Test func `a whole log, a short one and none at all are no damage`() throws {
        let bench = try Bench()
        #expect(try LogCheck(of: "\(bench.scratch.path)/nothing") == nil)
        for number in 0..<20 { bench.write(put("\(number)", "x")) }
        let copy = try StoreFiles(of: bench.scratch)
        let whole = try #require(try written(copy))
        #expect(whole.loss == nil)
        #expect(whole.end == Int64(LogFrames(copy.log).end))
        for length in [0, 1, 31, 32, 33, 56, 5_000] {
            var short = copy
            short.log = short.log.prefix(length)
            #expect(try written(short)?.loss == nil)
        }
        var empty = copy
        empty.log = Data(count: 100_000)
        #expect(try written(empty)?.loss == nil)
    }

    // MARK: Parts

    /// A store whose tables are not in the log.
    private func checkpointed() throws -> Bench {
        let bench = try Bench()
        _ = try bench.store.pragma("wal_checkpoint(TRUNCATE)")
        return bench
    }

    private func written(_ files: StoreFiles) throws -> LogCheck? {
        let scratch = try files.written()
        return try LogCheck(of: scratch.database)
    }

    private func kept(in scratch: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path)
            .filter { $0.hasPrefix("atrium.sqlite.damaged-") }.sorted()
    }

    private func expectKept(_ files: StoreFiles, in scratch: TemporaryDirectory) throws {
        let names = try kept(in: scratch)
        #expect(names.map { $0.suffix(4) } == [names.first?.suffix(4) ?? "", "-wal", ".txt"])
        let contents = names.map { FileManager.default.contents(atPath: "\(scratch.path)/\($0)") }
        #expect(contents.first == files.database)
        #expect(contents.dropFirst().first == files.log)
    }
}

/// The files of a store as they are at a moment at which nothing is written.
struct StoreFiles {
    var database: Data
    var log: Data

    init(of scratch: TemporaryDirectory) throws {
        database = try Data(contentsOf: URL(filePath: scratch.database))
        let log = "\(scratch.database)-wal"
        self.log = FileManager.default.contents(atPath: log) ?? Data()
    }

    /// Writes them into a directory of their own, with what was kept of damaged files elsewhere.
    func written(keptBy other: TemporaryDirectory? = nil) throws -> TemporaryDirectory {
        let scratch = try TemporaryDirectory(inMemory: true)
        try write(to: scratch)
        guard let other else { return scratch }
        for name in try FileManager.default.contentsOfDirectory(atPath: other.path)
        where name.contains(".damaged-") {
            try FileManager.default.copyItem(
                atPath: "\(other.path)/\(name)", toPath: "\(scratch.path)/\(name)")
        }
        return scratch
    }

    func write(to scratch: TemporaryDirectory) throws {
        try scratch.write("atrium.sqlite", database)
        try scratch.write("atrium.sqlite-wal", log)
    }

    /// Takes sectors of the log back to how they were before.
    mutating func tear(from before: StoreFiles, using random: inout some RandomNumberGenerator) {
        if Bool.random(using: &random), log.count > before.log.count {
            log = log.prefix(Int.random(in: before.log.count...log.count, using: &random))
        }
        let share = Int.random(in: 1...8, using: &random)
        for start in stride(from: 0, to: log.count, by: 512)
        where Int.random(in: 0..<8, using: &random) < share {
            let end = min(start + 512, log.count)
            let old = before.log.subdata(
                in: min(start, before.log.count)..<min(end, before.log.count))
            log.replaceSubrange(start..<end, with: old + Data(count: end - start - old.count))
        }
    }
}

/// Where the frames of a log are.
struct LogFrames {
    private let log: Data
    private let pageSize: Int

    init(_ log: Data) {
        self.log = Data(log)
        pageSize = Int(log[8]) << 24 | Int(log[9]) << 16 | Int(log[10]) << 8 | Int(log[11])
    }

    var count: Int {
        // Those of this generation of the log.
        (0..<(log.count - 32) / (24 + pageSize)).prefix {
            log[offset(of: $0) + 8..<offset(of: $0) + 16] == log[16..<24]
        }.count
    }

    /// Those that end a transaction.
    var commits: [Int] {
        (0..<count).filter { index in
            log[offset(of: index) + 4..<offset(of: index) + 8].contains { $0 != 0 }
        }
    }

    var end: Int { offset(of: count) }

    func offset(of frame: Int) -> Int { 32 + frame * (24 + pageSize) }
}
