import FaultVFS
import Foundation
import StoreFaults
import TestSupport
import Testing

@testable import Store

/// What is done seldom and touches much of a store, with a failure of the file system at one call after the other.
///
/// Some calls of each stand for all, unless `FAULT_SEEDS` asks for more than one workload. Of an erasure all calls fail in one
/// way, each second one with a power cut: also during the first commit after a start, which few of them are.
@Suite(.timeLimit(.minutes(60))) struct FaultStepTests {
    private static let most = (FaultTests.number("FAULT_SEEDS") ?? 1) > 1 ? Int.max : 24

    @Test(
        arguments: FaultStep.allCases,
        [FaultError, FaultFull, FaultShort, FaultTorn, FaultRead, FaultCrash])
    func `whatever call fails, nothing is lost, and it can be done again`(
        step: FaultStep, kind: FaultKind
    ) throws {
        let calls = try FaultStepRun(step, kind, at: .max - 1).run()
        #expect(calls > 3)
        let most = step == .erasure && kind == FaultError ? Int.max : Self.most
        for call in stride(from: 0, to: calls, by: max(1, calls / most)) {
            _ = try FaultStepRun(step, kind, at: call).run()
        }
    }
}

/// What is done while something goes wrong.
enum FaultStep: String, CaseIterable, CustomTestStringConvertible {
    case erasure, backup, restore, migration

    var testDescription: String { rawValue }
}

/// One such step on a store of its own, with a failure, and the look at what is left.
private struct FaultStepRun {
    private let step: FaultStep
    private let kind: FaultKind
    private let call: Int
    private let whole: FaultedStore

    init(_ step: FaultStep, _ kind: FaultKind, at call: Int) throws {
        (self.step, self.kind, self.call) = (step, kind, call)
        whole = try step == .migration ? FaultedStore.old.get() : FaultedStore.before.get()
    }

    private var comment: Comment { "\(step) \(kind) \(call)" }

    /// Runs it.
    ///
    /// - Returns: how many calls there were that could fail.
    func run() throws -> Int {
        let scratch = try whole.files.written()
        let (result, calls) = try faulted(scratch)
        try check(scratch, result)
        try again(scratch)
        return calls
    }

    /// Does it while something goes wrong, and ends like a killed process.
    private func faulted(
        _ scratch: TemporaryDirectory
    ) throws -> (Result<Data?, any Error>, calls: Int) {
        let files = FaultFiles(scratch.path)
        files.fail(kind, at: call, count: 1, seed: UInt64(call))
        let result = Result { try act(in: scratch) }
        let calls = kind == FaultRead ? files.reads : files.calls
        if call >= calls { #expect(throws: Never.self) { try result.get() } }
        files.crash()
        if step == .erasure, (try? result.get()) != nil { try expectErased(scratch) }
        // What is put in another's place by its name the disk of the tests does not know.
        if step == .erasure || step == .backup, call % 2 == 0 {
            files.cutPower(seed: UInt64(call))
        }
        return (result, calls)
    }

    /// What is left opens, and is what it was before, or after.
    private func check(
        _ scratch: TemporaryDirectory, _ result: Result<Data?, any Error>
    ) throws {
        let bench = try Bench(scratch)
        defer { bench.store.close() }
        let succeeded = (try? result.get()) != nil
        if step == .restore {
            let isNew = try bench.records("films", "list") == FaultedStore.after.get().records
            if succeeded { #expect(isNew, comment) }
            let expected = try isNew ? FaultedStore.after.get() : whole
            // Its log may be where it was put, which is said then.
            if bench.store.damages.isEmpty { try expected.expect(bench, comment) }
            #expect(succeeded ? bench.store.damages.isEmpty : true, comment)
        } else {
            #expect(bench.store.damages.isEmpty, comment)
            try whole.expect(bench, comment)
        }
        if case .success(let copy?) = result { try expectWhole(copy) }
    }

    /// Now it succeeds.
    private func again(_ scratch: TemporaryDirectory) throws {
        _ = try act(in: scratch)
        if step == .erasure { try expectErased(scratch) }
        let bench = try Bench(scratch)
        defer { bench.store.close() }
        #expect(bench.store.damages.isEmpty, comment)
        try (step == .restore ? FaultedStore.after.get() : whole).expect(bench, comment)
    }

    /// - Returns: the backup, if one was made.
    private func act(in scratch: TemporaryDirectory) throws -> Data? {
        if step == .restore {
            try FaultedStore.restore(FaultedStore.backup.get(), to: scratch)
            return Data()
        }
        let bench = try Bench(scratch)
        defer { bench.store.abandon() }
        switch step {
        case .erasure:
            let told = try bench.store.notifications(after: 0, limit: 100).notifications
            let gone = told.filter { $0.actor == FaultedStore.gone.number }.map(\.sequence)
            try bench.store.erase(FaultedStore.gone.number, notifications: gone)
            return Data()
        case .backup: return try FaultedStore.copy(of: bench.store)
        case .restore, .migration: return Data()
        }
    }

    private func expectWhole(_ copy: Data) throws {
        guard !copy.isEmpty else { return }
        let target = try TemporaryDirectory(inMemory: true)
        try FaultedStore.restore(copy, to: target)
        let bench = try Bench(target)
        defer { bench.store.close() }
        try whole.expect(bench, comment)
    }

    /// No file holds the person.
    private func expectErased(_ scratch: TemporaryDirectory) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path) {
            let data = try Data(contentsOf: URL(filePath: "\(scratch.path)/\(name)"))
            for word in [FaultedStore.gone.name, FaultedStore.said] {
                #expect(
                    data.range(of: Data(word.utf8)) == nil,
                    "\(comment.rawValue): \(name) has \(word)")
            }
        }
    }
}

/// A store as it was before something was done to it, and what it holds.
private struct FaultedStore {
    static let gone = Actor(number: 77, name: "web:gone-with-the-wind")
    static let said = "frankly-my-dear"

    let files: StoreFiles
    let records: [String: String]
    let sequence: Int64
    let actors: Set<Int64>

    private init(_ bench: Bench) throws {
        records = try bench.records("films", "list")
        sequence = bench.store.lastSequence
        actors = Set(try bench.store.actors().map(\.number))
        // As a kill leaves it: something is in the log alone, and changes wait.
        bench.store.abandon()
        files = try StoreFiles(of: bench.scratch)
    }

    static let before = Result { try FaultedStore(made("before", 30)) }
    static let after = Result { try FaultedStore(made("after", 12)) }
    static let old = Result {
        let scratch = try TemporaryDirectory(inMemory: true)
        try MigrationTests.makeOld(in: scratch, purges: false)
        let files = try StoreFiles(of: scratch)
        let new = try FaultedStore(Bench(scratch))
        return FaultedStore(files, new)
    }
    static let backup = Result {
        let bench = try made("after", 12)
        defer { bench.store.abandon() }
        return try copy(of: bench.store)
    }

    private init(_ files: StoreFiles, _ other: FaultedStore) {
        self.files = files
        (records, sequence, actors) = (other.records, other.sequence, other.actors)
    }

    private static func made(_ name: String, _ count: Int) throws -> Bench {
        let bench = try Bench(TemporaryDirectory(inMemory: true))
        for number in 0..<count {
            var entry = put(
                "\(name) \(number)", String(repeating: "\(number) ", count: number * 40))
            if number % 5 == 1 {
                entry.actor = gone.number
                entry.actors = [gone]
                entry.notification?.restricted = [UInt8]("{\"said\":\"\(said)\"}".utf8)
            } else if number % 5 == 2 {
                entry.actor = 78
                entry.actors = [Actor(number: 78, name: "unix:78")]
            }
            bench.write(entry)
            if number == count / 2 { _ = try bench.store.pragma("wal_checkpoint(TRUNCATE)") }
        }
        return bench
    }

    static func copy(of store: Store) throws -> Data {
        let backup = try BackupMaking().make(of: store)
        return Data(try backup.read(at: 0, atMost: backup.bytes))
    }

    static func restore(_ data: Data, to target: TemporaryDirectory) throws {
        let source = try TemporaryDirectory(inMemory: true)
        let descriptor = open(try source.write("backup", data), O_RDONLY)
        defer { close(descriptor) }
        _ = try StoreRestore(from: descriptor, named: "backup", to: target.path).run(
            replacing: true)
    }

    /// Expects a store to have what this one has, all of it as it was written.
    func expect(_ bench: Bench, _ comment: Comment) throws {
        #expect(try bench.records("films", "list") == records, comment)
        #expect(bench.store.lastSequence == sequence, comment)
        #expect(Set(try bench.store.actors().map(\.number)) == actors, comment)
        let recount = try Recount(of: bench.store, container: nil)
        while let slice = try recount.next() {
            #expect(slice.damaged == [] && slice.difference == nil && slice.missing == 0, comment)
            #expect(slice.problems == [], comment)
        }
        #expect(try QuickCheck(of: bench.store).run() == [], comment)
    }
}
