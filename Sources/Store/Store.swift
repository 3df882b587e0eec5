internal import Dispatch
internal import GRDB
internal import LogMessages
public import Logging
internal import Synchronization

/// Makes entries durable, and keeps records and notifications: one SQLite file.
///
/// What it promises:
///
/// - **Durability.** A success is delivered after the entry's transaction was synced to the disk. An entry is stored
///   completely or not at all, whenever and however the process ends.
/// - **Order.** Entries are settled in the order in which they were appended. Their outcomes are delivered in that
///   order, with one call for each group. Sequences and positions are contiguous; a failed entry takes none.
/// - **Groups.** Waiting entries are written together, at most 1,000 entries or about 8 MiB at a time. A group that
///   fails is rolled back and retried entry by entry.
/// - **Epochs.** Once an entry is not written, for any reason, every later entry of its container with its epoch or
///   an older one is refused.
/// - **Storage errors.** After one (no space, an I/O error, a read-only file, another process's lock that lasts
///   longer than 0.3 s), appended entries fail at once as `.unavailable`. A probe runs every half second; once one
///   commits, entries are written again.
/// - **Damage.** At a start, the write-ahead log is checked for unreadable committed transactions before SQLite reads
///   it. Damage is listed in `damages` and logged, and the files are copied. See ``LogCheck`` for what can't be
///   detected.
/// - **Corruption.** Once SQLite reports that the file is damaged, entries are refused as `.damaged` and nothing is
///   written, also by later processes, until the note of it is removed; reads continue.
/// - **Lost files.** Once the database, its log or the lock is found removed or replaced, or the database or its log
///   cut or overwritten, entries are refused as `.damaged` until the process ends. What was acknowledged since then,
///   for at most a second, may be lost.
/// - **Purges.** No read returns a purged record from its entry's commit on. The rows are deleted later, at most
///   1,000 or about 8 MiB in one transaction, between groups of entries. If entries never stop waiting, one such
///   transaction follows every 16 groups. A later process continues the deletion.
/// - **Reads** see a snapshot of what is committed. They don't wait for writes, with two exceptions: `enqueueRead`
///   runs after everything appended before it, and a ``Backup`` first deletes purged rows. Reads are synchronous:
///   call them away from the event loop.
///
/// The store does not interpret keys, values and payloads, except for ``Purge/item``. All methods may be called on
/// any thread; only `close()` must not be called from `outcomes` or from a read's closure.
public final class Store: Sendable {
    /// A UUID made with the file; cursors from a store of another identity are not valid.
    public let identity: String
    /// The path of the database file.
    public let file: String
    let writer: Writer
    let pool: DatabasePool
    private let kept: [KeptDamage]
    let damagedRows: DamagedRows
    private let reads = DispatchQueue(label: "atrium.store.reads", qos: .userInitiated)

    /// Opens `atrium.sqlite` in a directory for this process alone, creating both if missing.
    ///
    /// - Parameters:
    ///   - directory: the state directory, created with mode 0700 if missing.
    ///   - logger: logs failures and recoveries.
    ///   - outcomes: called on the writer's thread, in order, once for each group; it must be quick.
    /// - Throws: `StoreError`, with the file, the problem and what to do.
    public convenience init(
        at directory: String, logger: Logger, outcomes: @escaping @Sendable ([Outcome]) -> Void
    ) throws(StoreError) {
        try self.init(
            at: directory, logger: logger, probeInterval: .milliseconds(500), outcomes: outcomes)
    }

    /// Does the same as the public initializer, with another interval between probes.
    package init(
        at directory: String, logger: Logger, probeInterval: Duration,
        outcomes: @escaping @Sendable ([Outcome]) -> Void
    ) throws(StoreError) {
        let opening = try Opening.start(in: directory)
        identity = opening.identity
        file = opening.file
        pool = opening.pool
        kept = opening.damages
        damagedRows = DamagedRows(beside: opening.file, logger: logger)
        for damage in kept {
            logger.log(
                damage.forbidsWrites ? .storeReadOnly : .storeLostChanges,
                level: damage.isNew || damage.forbidsWrites ? nil : .warning,
                ["path": "\(file)", "reason": "\(damage.description)"])
        }
        DraftFile.removeAll(in: directory)
        writer = Writer(
            opening, logger: logger, probeInterval: probeInterval, outcomes: outcomes)
        if let failure = opening.failure { writer.condition.noteDamage(failure) }
    }

    /// The sequence of the last committed entry, 0 before the first; it advances before the entry's outcome is
    /// delivered.
    public var lastSequence: Int64 { writer.lastSequence }

    /// Why entries are refused as unavailable or damaged, for people; nil: they are written.
    public var unavailability: String? { writer.condition.unavailability }

    /// Whether the file is only read: SQLite reported that it is damaged, to this process or an earlier one, or it was removed.
    ///
    /// `unavailability` then gives the reason.
    public var isDamaged: Bool { writer.condition.isDamaged }

    /// Stops all writes if the database, its log or the lock was removed or replaced since they were opened.
    ///
    /// ``unavailability`` then names the file. Writes cause the same check, at most once a second,
    /// and look into the files.
    public func checkFiles() { writer.condition.findLostFile() }

    /// The unresolved damage that this start or an earlier one found, for people.
    ///
    /// Each text names the loss, what to do, and the files to remove so that it is no longer reported.
    public var damages: [String] { kept.filter(\.isKept).map(\.description) }

    /// The number of entries and reads that wait for the writer's thread, without those it is processing.
    public var waitingCount: Int { writer.waitingCount }

    /// Runs the work on a thread for reading, after everything appended before it is settled.
    ///
    /// The outcomes of those entries are delivered before it starts. Such works run one after another, in the order
    /// in which they were enqueued; later entries may have been committed by then.
    public func enqueueRead(_ work: @escaping @Sendable (Store) -> Void) {
        writer.add(.read { self.reads.async { work(self) } })
    }

    /// Settles everything that was appended, waits for enqueued reads, and closes the file.
    ///
    /// Later entries fail as `.storage`, later reads throw `.closed`. A second call does nothing.
    public func close() {
        writer.condition.findChangedFile(pool)
        guard writer.close() else { return }
        reads.sync {}
        guard !writer.condition.hasForeignWrite else {
            // Left open until the process ends: closed, SQLite would copy the log over what is there and empty it.
            _ = Unmanaged.passRetained(pool)
            writer.ownership.release()
            return
        }
        let hasLostFile = writer.condition.hasLostFile
        // Another store's log may have the name by now.
        if hasLostFile {
            pool.writeWithoutTransaction(WriteAheadLog.keepFile)
        }
        let isDamaged = writer.condition.hasSeenDamage
        // A damaged file is not changed: an open reader keeps SQLite from transferring the log to it.
        let reader = try? isDamaged ? openReader() : nil
        // A failed checkpoint or close loses nothing: the log remains, and the next start reads it.
        if !isDamaged {
            try? pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        }
        // Readers are closed first: SQLite removes the log if the last connection to close can write.
        pool.releaseMemory()
        try? pool.close()
        try? reader?.close()
        // A start after this one may find a disk that is full. Where there is no store, it would show that there was.
        if !hasLostFile { Reserve.allocate(beside: file) }
        writer.ownership.release()
    }

    private func openReader() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: file, configuration: configuration)
        try reader.read { db in try db.execute(sql: "PRAGMA user_version") }
        return reader
    }

    /// Ends as if the process had been killed: waiting items are dropped, and no outcomes are delivered.
    package func abandon() {
        guard writer.abandon() else { return }
        reads.sync {}
        try? pool.close()
        writer.ownership.release()
    }

    /// Sets the number of frames at which the log is copied, and for how many room is made in its file at a time.
    package func keepLog(limit: Int, step: Int) {
        writer.log.limit.store(limit, ordering: .relaxed)
        writer.queue.sync { writer.log.step = step }
    }

    /// Probes now, on this thread, if the store is unavailable.
    package func probe() {
        writer.probe()
    }

    /// Waits until all purged rows are deleted, or deletion has failed.
    package func waitForDeletion() {
        writer.deletion.wait(for: writer)
    }

    /// The number of rows of records, including purged ones that are not deleted yet.
    package func recordRows() throws -> Int {
        try writer.finishTail()
        return try pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM records") }
            ?? 0
    }

    /// Runs a PRAGMA on the writer's connection and returns its first value.
    package func pragma(_ text: String) throws -> Int? {
        try pool.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA \(text)") }
    }
}
