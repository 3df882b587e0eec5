import Dispatch
import Foundation
import GRDB
import Logging
import Store
import StoreFaults
import Synchronization
import TestSupport
import Testing

extension TemporaryDirectory {
    var database: String { "\(path)/atrium.sqlite" }
}

/// A store in a scratch directory, with what it answered.
final class Bench: Sendable {
    let store: Store
    let scratch: TemporaryDirectory
    private let collected: Collected

    /// Probes by itself hardly ever: a test says when.
    ///
    /// `answered` is told of each group, on the writer's thread.
    init(
        _ scratch: TemporaryDirectory, probeInterval: Duration = .seconds(3_600),
        answered: @escaping @Sendable ([Outcome]) -> Void = { _ in }
    ) throws {
        let collected = Collected()
        self.scratch = scratch
        self.collected = collected
        store = try Store(at: scratch.path, logger: quiet, probeInterval: probeInterval) {
            collected.add($0)
            answered($0)
        }
    }

    convenience init() throws {
        try self.init(TemporaryDirectory())
    }

    /// The size of the log's file.
    var logSize: Int {
        let path = "\(scratch.database)-wal"
        return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// Runs the body while a reader of another connection uses the snapshot of now.
    func whileReading(_ body: () throws -> Void) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: scratch.database, configuration: configuration)
        try reader.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entries")
            try body()
        }
    }

    /// What was answered so far, a call a group.
    var groups: [[Outcome]] { collected.groups.withLock { $0 } }

    /// Waits until everything appended so far has been answered, and returns all answers.
    @discardableResult
    func settle() -> [Outcome] {
        let settled = DispatchSemaphore(value: 0)
        store.enqueueRead { _ in settled.signal() }
        settled.wait(for: "its answers")
        return groups.flatMap { $0 }
    }

    /// Appends one entry, waits, and returns its answer.
    @discardableResult
    func write(_ entry: Entry, ticket: UInt64 = 0) -> Result<Commit, EntryFailure>? {
        store.append(entry, ticket: ticket)
        return settle().last?.result
    }

    /// Appends entries so that they are written in one group.
    ///
    /// The writer is held by a first entry, in a lane of its own, until all have been appended.
    func writeTogether(_ entries: [Entry]) throws -> [Outcome] {
        let gate = UInt64.max
        let writer = try HeldWriter(store)
        store.append(Entry(container: "gate", epoch: 0, time: 0), ticket: gate)
        while !writer.hasTakenAll { sched_yield() }
        for (ticket, entry) in entries.enumerated() { store.append(entry, ticket: UInt64(ticket)) }
        try writer.release()
        return settle().filter { $0.ticket != gate }.suffix(entries.count)
    }

    /// All records of a component by key.
    func records(_ container: String, _ component: String) throws -> [String: String] {
        var records: [String: String] = [:]
        try store.forEachRecord(container: container, component: component) { key, value, _ in
            guard let value else { throw StoreError.corrupt(file: store.file, reason: "a record") }
            records[String(decoding: key, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
        }
        return records
    }
}

extension DispatchSemaphore {
    /// Waits for at most a minute: a test that blocks its thread can't be ended by a time limit.
    fileprivate func wait(for what: Comment) {
        #expect(wait(timeout: .now() + .seconds(60)) == .success, what)
    }
}

private final class Collected: Sendable {
    let groups = Mutex<[[Outcome]]>([])

    func add(_ outcomes: [Outcome]) {
        groups.withLock { $0.append(outcomes) }
    }
}

/// Failures are what these tests are about: they need not be logged.
let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// An entry that puts or removes one record and tells about it.
func put(
    _ key: String, _ value: String?, in container: String = "films", epoch: Int = 0,
    expecting position: Int64? = nil
) -> Entry {
    Entry(
        container: container, epoch: epoch, time: 1_000, actor: nil,
        changes: [
            RecordChange(
                container: container, component: "list", key: key,
                value: value.map { [UInt8]($0.utf8) })
        ],
        notification: NotificationDraft(
            topic: "\(container).items.put", payload: [UInt8](key.utf8)),
        expectedPosition: position)
}

extension Result where Success == Commit, Failure == EntryFailure {
    /// The failure, if it is one.
    var failure: EntryFailure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }

    /// The sequence, if it was committed.
    var sequence: Int64? {
        guard case .success(let commit) = self else { return nil }
        return commit.sequence
    }

    /// Whether it failed on writing.
    var isStorageFailure: Bool {
        guard case .storage? = failure else { return false }
        return true
    }

    /// Whether it was refused because the store is unavailable.
    var isUnavailable: Bool {
        guard case .unavailable? = failure else { return false }
        return true
    }
}
