import FaultVFS
import Foundation
import Store
import StoreFaults
import TestSupport
import Testing

/// Failures of the file system at every call in turn, each followed by a crash and a recount.
///
/// `FAULT_SEEDS` says how many workloads are run so (1), and `FAULT_SEED` the first one's seed (0).
@Suite(.timeLimit(.minutes(60))) struct FaultTests {
    private static let seeds: Range<Int> = {
        let first = number("FAULT_SEED") ?? 0
        return first..<first + (number("FAULT_SEEDS") ?? 1)
    }()

    static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: [FaultError, FaultFull, FaultShort, FaultTorn, FaultRead, FaultCrash])
    func `whatever call fails, what was acknowledged is there whole`(kind: FaultKind) throws {
        for seed in Self.seeds {
            print("faults: FAULT_SEED=\(seed)")
            let whole = FaultRun.Plan(
                kind: kind == FaultRead ? kind : FaultNone, call: .max - 1, seed: seed)
            let calls = try FaultRun(whole).run()
            #expect(calls > 40)
            // There are many reads: some stand for all, unless there is time for more workloads.
            let step = kind == FaultRead && Self.seeds.count == 1 ? max(1, calls / 50) : 1
            for call in stride(from: 0, to: calls, by: step) {
                _ = try FaultRun(.init(kind: kind, call: call, seed: seed)).run()
                // A kill without a power cut leaves all that was written.
                guard kind == FaultCrash else { continue }
                _ = try FaultRun(.init(kind: kind, call: call, seed: seed, keepsPower: true)).run()
            }
        }
    }

    @Test(arguments: [FaultError, FaultFull, FaultShort, FaultTorn, FaultCrash])
    func `a store that could not be made is made by the next start`(kind: FaultKind) throws {
        let calls = try FaultRun(.init(kind: FaultNone, isNew: true, entries: 0)).run()
        #expect(calls > 5)
        for call in 0..<calls {
            _ = try FaultRun(.init(kind: kind, call: call, isNew: true, entries: 2)).run()
        }
    }

    /// A disk that says that it synced and did not: not promised, but nobody crashes of it.
    @Test func `a store whose disk has lied opens, or says why not`() throws {
        let calls = try FaultRun(.init(kind: FaultNone, seed: 0)).run()
        var outcomes: [FaultRun.Aftermath: Int] = [:]
        for call in stride(from: 0, to: calls, by: 5) {
            let run = FaultRun(.init(kind: FaultLostSync, call: call, count: .max, seed: call))
            outcomes[try run.runLying(), default: 0] += 1
        }
        #expect(outcomes[.whole, default: 0] > 0)
        #expect(outcomes[.unnoticed, default: 0] > 0, "then it can be promised")
    }

    @Test func `the recount would show a store that acknowledges before the sync`() throws {
        var lost = 0
        for seed in 0..<20 {
            let run = FaultRun(.init(kind: FaultNone, seed: seed, isSynced: false))
            if try run.runLying() != .whole { lost += 1 }
        }
        #expect(lost > 0)
    }
}

/// A workload on a store beneath which something goes wrong, and the recount after it.
struct FaultRun {
    struct Plan {
        var kind: FaultKind
        /// The first call that fails.
        var call = 0
        /// How many do; nil: one or some, by the call.
        var count: Int?
        var seed = 0
        /// Whether the store is made in it; else it is there before.
        var isNew = false
        var entries = 7
        var isSynced = true
        /// Whether what was written is there afterwards, synced or not.
        var keepsPower = false
    }

    /// What a disk that lied has left.
    enum Aftermath: Hashable {
        case whole
        /// The store says so, can't be opened, or has one record of two.
        case found
        case unnoticed
    }

    private let plan: Plan

    init(_ plan: Plan) { self.plan = plan }

    /// Runs it and counts again: all that was acknowledged has to be there.
    func run() throws -> Int {
        let scratch = try makeScratch()
        let (sent, acknowledged, calls) = try work(in: scratch)
        let bench = try Bench(scratch)
        defer { bench.store.close() }
        #expect(bench.store.damages.isEmpty, "\(plan)")
        let found = try recount(bench)
        #expect(acknowledged.isSubset(of: found), "\(plan)")
        #expect(found.isSubset(of: sent), "\(plan)")
        // It goes on, also with what was purged.
        #expect(bench.write(entry("afterwards", size: 10)) != nil)
        #expect(try recount(bench) == found.union(["afterwards"]), "\(plan)")
        bench.store.waitForDeletion()
        let left = try bench.records("films", "left")
        #expect(try bench.store.recordRows() == 2 * left.count, "\(plan)")
        return calls
    }

    /// Runs it; what was acknowledged may be lost.
    func runLying() throws -> Aftermath {
        let scratch = try makeScratch()
        let acknowledged = try work(in: scratch).acknowledged
        guard let bench = try? Bench(scratch) else { return .found }
        defer { bench.store.close() }
        guard bench.store.damages.isEmpty else { return .found }
        let records = ["left", "right"].map { try? bench.records("films", $0) }
        guard let left = records[0], left == records[1] else { return .found }
        let rest = Self.rest(of: acknowledged)
        return rest.isSubset(of: left.keys) ? .whole : .unnoticed
    }

    private func makeScratch() throws -> TemporaryDirectory {
        guard !plan.isNew else { return try TemporaryDirectory(inMemory: true) }
        return try Self.template.get().written()
    }

    /// A store that has been used before, so that its log is not new.
    private static let template = Result {
        let bench = try Bench(TemporaryDirectory(inMemory: true))
        for number in 0..<5 {
            bench.write(FaultRun(.init(kind: FaultNone)).entry("before \(number)", size: 2_000))
        }
        bench.store.close()
        return try StoreFiles(of: bench.scratch)
    }

    private func work(
        in scratch: TemporaryDirectory
    ) throws -> (sent: Set<String>, acknowledged: Set<String>, calls: Int) {
        let before = plan.isNew ? [] : Set((0..<5).map { "before \($0)" })
        var random = RepeatableRandom(UInt64(plan.seed))
        let files = FaultFiles(scratch.path)
        files.fail(
            plan.kind, at: plan.call, count: plan.count ?? [1, 1, 2, 5][plan.call % 4],
            seed: UInt64(plan.call))
        var (sent, acknowledged) = (before, before)
        if let bench = try? Bench(scratch) {
            // Often copied into the database.
            bench.store.keepLog(limit: 12, step: plan.call % 3 * 4)
            if !plan.isSynced { _ = try? bench.store.pragma("synchronous = OFF") }
            for number in 0..<plan.entries {
                write(number, to: bench, &sent, &acknowledged, using: &random)
            }
            files.crash()
            bench.store.abandon()
        }
        let calls = plan.kind == FaultRead ? files.reads : files.calls
        if !plan.keepsPower, plan.call % 2 == 0 || plan.count != nil || !plan.isSynced {
            files.cutPower(seed: random.next())
        }
        return (sent, acknowledged, calls)
    }

    private func write(
        _ number: Int, to bench: Bench, _ sent: inout Set<String>,
        _ acknowledged: inout Set<String>, using random: inout RepeatableRandom
    ) {
        var names = (0..<Int.random(in: 1...3, using: &random)).map { "\(number).\($0)" }
        let size = [10, 3_000, 9_000][Int.random(in: 0..<3, using: &random)]
        if number % 3 == 0, number > 0 { names.append("purge \(number - 2)") }
        for (index, name) in names.enumerated() {
            bench.store.append(
                entry(name, size: size, epoch: number), ticket: UInt64(number * 10 + index))
        }
        sent.formUnion(names)
        for outcome in bench.settle() where outcome.ticket / 10 == UInt64(number) {
            guard case .success = outcome.result else { continue }
            acknowledged.insert(names[Int(outcome.ticket % 10)])
        }
        bench.store.waitForDeletion()
        // Makes the changes that wait.
        if number % 3 == 2 { _ = try? bench.store.recordRows() }
        if number % 5 == 4 {
            bench.store.setRetention(Retention(count: 3))
            bench.store.waitForTrimming()
        }
        bench.store.probe()
    }

    /// An entry by somebody new; one called "purge 3" purges what those called "3.…" have written.
    private func entry(_ name: String, size: Int, epoch: Int = 0) -> Entry {
        let item = name.prefix { $0 != "." }
        let text = String(repeating: "x", count: size)
        let sides = ["left", "right"]
        let person = Actor(number: Self.number(of: name), name: "unix:\(name)")
        var entry = Entry(
            container: "films", epoch: epoch, time: 0, actor: person.number,
            changes: sides.map {
                RecordChange(
                    container: "films", component: $0, key: name,
                    value: Array(#"{"item":"\#(item)","text":"\#(text)"}"#.utf8))
            },
            notification: NotificationDraft(topic: "t", payload: [UInt8](name.utf8)),
            actors: [person])
        guard let purged = Self.purged(by: name), let number = Int(purged) else { return entry }
        entry.purges = sides.map {
            number % 2 == 0
                ? Purge(container: "films", component: $0, item: purged)
                : Purge(container: "films", component: $0, prefix: "\(purged).")
        }
        return entry
    }

    private static func number(of name: String) -> Int64 {
        name.utf8.reduce(7) { ($0 &* 1_000_003 ^ Int64($1)) & .max }
    }

    private static func purged(by name: String) -> String? {
        name.hasPrefix("purge ") ? String(name.dropFirst(6)) : nil
    }

    /// Of entries those that the others among them have not purged.
    private static func rest(of names: Set<String>) -> Set<String> {
        let purged = Set(names.compactMap(purged))
        return names.filter { name in
            !name.contains(".") || !purged.contains(String(name.prefix { $0 != "." }))
        }
    }

    /// The names of all entries that are there; each whole, under contiguous sequences.
    private func recount(_ bench: Bench) throws -> Set<String> {
        // Every entry has somebody of its own, who stays when what it wrote is purged.
        let actors = try bench.store.actors()
        let found = Set(actors.map { String($0.name.dropFirst(5)) })
        #expect(actors.allSatisfy { $0.number == Self.number(of: String($0.name.dropFirst(5))) })
        let left = try bench.records("films", "left")
        #expect(try bench.records("films", "right") == left, "\(plan)")
        #expect(Set(left.keys) == Self.rest(of: found), "\(plan)")
        #expect(bench.store.lastSequence == found.count, "\(plan)")
        #expect(try bench.store.position(of: "films") == found.count, "\(plan)")
        let trimmed = try bench.store.trimmedThrough()
        let told = try bench.store.notifications(after: trimmed, limit: .max).notifications
        if trimmed < bench.store.lastSequence {
            #expect(
                told.map(\.sequence) == Array(trimmed + 1...bench.store.lastSequence), "\(plan)")
        }
        for notification in told {
            let name = String(decoding: notification.payload, as: UTF8.self)
            #expect(found.contains(name) && notification.actor == Self.number(of: name), "\(plan)")
        }
        return found
    }
}
