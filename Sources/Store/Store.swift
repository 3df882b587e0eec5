internal import Dispatch
internal import GRDB
internal import LogMessages
public import Logging
internal import Synchronization

/// Where entries are made durable, and records and notifications are kept: one SQLite file.
///
/// What it promises:
///
/// - **Durability.** A success is delivered after the entry's transaction was synced to the disk. An
///   entry is there whole or not at all, whenever and however the process ends.
/// - **Order.** Entries are settled in the order they were appended, and their outcomes delivered in
///   that order, one call a group. Sequences and positions are contiguous; a failed entry takes none.
/// - **Groups.** What waits is written together, at most 1,000 entries or about 8 MiB at a time. A
///   group that fails is rolled back and retried entry by entry.
/// - **Epochs.** Once an entry is not written, for whatever reason, every later entry of its container
///   with its epoch or an older one is refused unwritten.
/// - **Storage errors.** After one (no space, an I/O error, a read-only file, another process's lock
///   that lasts longer than 0.3 s) appended entries fail at once as `.unavailable`, until a probe, made
///   every half second, has committed something.
/// - **Damage.** Before the log of changes is read at a start, it is looked at for committed ones that can't be read: these
///   are told of in `damages` and logged, and the files are copied aside. See ``LogCheck`` for what can't be found.
/// - **Corruption.** Once SQLite has said of a read or a write that the file is damaged, entries are refused as `.damaged`
///   and nothing is written until the process ends; reads go on.
/// - **Purges.** What an entry purges is in no read from its commit on. The rows go afterwards, at
///   most 1,000 or about 8 MiB a transaction, between which entries are written; where entries never
///   cease to wait, one such transaction follows 16 groups. A later process goes on with it.
/// - **Reads** see a snapshot of what is committed. They don't wait for a write, but for `enqueueRead`, which comes after
///   all that was appended before it, and a ``Backup``, which first has purged rows deleted. They are synchronous: call
///   them away from the event loop.
///
/// It knows nothing of what keys, values and payloads mean, but for ``Purge/item``. Everything may be called on any thread;
/// only `close()` must not be called from `outcomes` or from a read's closure.
public final class Store: Sendable {
    /// A UUID made with the file; a cursor from a store of another identity means nothing here.
    public let identity: String
    /// The path of the database file.
    public let file: String
    let writer: Writer
    let pool: DatabasePool
    private let kept: [KeptDamage]
    let damagedRows: DamagedRows
    private let reads = DispatchQueue(label: "atrium.store.reads", qos: .userInitiated)

    /// Opens `atrium.sqlite` in the directory for this process alone, making both where missing.
    ///
    /// - Parameters:
    ///   - directory: the state directory, made with mode 0700 when it isn't there.
    ///   - logger: told of failures and recoveries.
    ///   - outcomes: called on the writer's thread, in order, once per group; keep it short.
    /// - Throws: `StoreError`, saying which file, what is wrong and what to do.
    public convenience init(
        at directory: String, logger: Logger, outcomes: @escaping @Sendable ([Outcome]) -> Void
    ) throws(StoreError) {
        try self.init(
            at: directory, logger: logger, probeInterval: .milliseconds(500), outcomes: outcomes)
    }

    /// As the public one, with another interval between probes.
    package init(
        at directory: String, logger: Logger, probeInterval: Duration,
        outcomes: @escaping @Sendable ([Outcome]) -> Void
    ) throws(StoreError) {
        let opening = try Opening(in: directory)
        identity = opening.identity
        file = opening.file
        pool = opening.pool
        kept = opening.damages
        damagedRows = DamagedRows(beside: opening.file)
        for damage in kept {
            logger.tell(
                .storeLostChanges, level: damage.isNew ? nil : .warning,
                ["path": "\(file)", "reason": "\(damage.description)"])
        }
        DraftFile.removeAll(in: directory)
        writer = Writer(
            opening, logger: logger, probeInterval: probeInterval, outcomes: outcomes)
        if let failure = opening.failure { writer.noteDamage(failure) }
    }

    /// The sequence of the last committed entry, 0 before the first; moves before its outcome is told.
    public var lastSequence: Int64 { writer.lastSequence }

    /// Why entries are refused as unavailable, for people; nil when they are written.
    public var unavailability: String? { writer.unavailability }

    /// Whether SQLite has said that the file is damaged, so that it is only read until the process ends.
    ///
    /// `unavailability` says more then.
    public var isDamaged: Bool { (try? writer.checkSound()) == nil }

    /// What was found damaged at this start or an earlier one and is not settled yet, for people.
    ///
    /// Each says what is lost, what to do, and which files to remove so that it is not said any more.
    public var damages: [String] { kept.filter(\.isKept).map(\.description) }

    /// How many entries and reads wait for the writer's thread; what it is at does not.
    public var waitingCount: Int { writer.waitingCount }

    /// Takes an entry to be written; returns at once, on any thread.
    ///
    /// Its outcome is delivered with the ticket, which is the caller's to choose.
    public func append(_ entry: Entry, ticket: UInt64) {
        writer.add(.entry(Inbox.Appended(entry: entry, ticket: ticket)))
    }

    /// Runs the work on a thread for reading, after everything appended before has settled.
    ///
    /// The outcomes of those entries were delivered before it starts. Such works run one after
    /// another, in the order they were enqueued; the store may have moved on to later entries.
    public func enqueueRead(_ work: @escaping @Sendable (Store) -> Void) {
        writer.add(.read { self.reads.async { work(self) } })
    }

    /// Settles all that was appended, waits for enqueued reads, and gives the file back.
    ///
    /// Later entries fail as `.storage`, later reads throw `.closed`. Closing twice does nothing.
    public func close() {
        guard writer.close() else { return }
        reads.sync {}
        let isDamaged = writer.hasSeenDamage
        // A damaged file stays as it is: the log is not copied into it where another has it open.
        let reader = try? isDamaged ? openReader() : nil
        // A failed checkpoint or close loses nothing: the log stays, and is read at the next start.
        if !isDamaged {
            try? pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        }
        // Readers go first: SQLite removes the log when the last connection to close can write.
        pool.releaseMemory()
        try? pool.close()
        try? reader?.close()
        writer.ownership.release()
    }

    private func openReader() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: file, configuration: configuration)
        try reader.read { db in try db.execute(sql: "PRAGMA user_version") }
        return reader
    }

    /// Ends as if the process had been killed: what waits is dropped, no outcome follows.
    package func abandon() {
        guard writer.abandon() else { return }
        reads.sync {}
        try? pool.close()
        writer.ownership.release()
    }

    /// Probes now, on this thread, if the store is unavailable.
    package func probe() {
        writer.probe()
    }

    /// Waits until all that was purged is deleted, or nothing can be.
    package func waitForDeletion() {
        writer.waitForDeletion()
    }

    /// How many rows of records there are, those among them that were purged and are not deleted yet.
    package func recordRows() throws -> Int {
        try writer.finishTail()
        return try pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM records") }
            ?? 0
    }

    /// Runs a PRAGMA on the writer's connection and answers with its first value.
    package func pragma(_ text: String) throws -> Int? {
        try pool.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA \(text)") }
    }
}
