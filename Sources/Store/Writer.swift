internal import Dispatch
internal import GRDB
internal import Glibc
internal import LogMessages
internal import Logging
internal import Synchronization

// The way in; the rest of the store's methods are in its own file.
extension Store {
    /// Appends an entry to be written; returns at once, and may be called on any thread.
    ///
    /// Its outcome is delivered with the ticket, which the caller chooses.
    public func append(_ entry: consuming Entry, ticket: UInt64) {
        writer.add(.entry(Inbox.Appended(entry: entry, ticket: ticket)))
    }
}

/// The only writer: a serial queue that commits the entries that wait, and delivers their outcomes.
///
/// Entries that arrive while one transaction is synced form the next one. A failed group is rolled back and retried
/// entry by entry, so one bad entry costs the others only time.
///
/// Sendable because `entries`, `pace`, `lanes`, `isStopped` and `deletion` are used only on `queue`, and everything else is
/// immutable or says itself how it is guarded.
final class Writer: @unchecked Sendable {
    /// Held here because entries may still be written after the store itself is released.
    let ownership: Ownership
    let queue = DispatchQueue(label: "atrium.store.writer", qos: .userInitiated)
    let pool: DatabasePool
    let path: String
    let logger: Logger
    private let probeInterval: Duration
    private let outcomes: @Sendable ([Outcome]) -> Void
    private let inbox = Mutex(Inbox())
    /// Whether the file can be written, and why not.
    let condition: StoreCondition
    private let sequence: Atomic<Int64>
    private let meters = StoreMeters()
    var entries: EntryWriter
    /// The tail, as readers see it.
    let late: LateRecords
    let log: WriteAheadLog
    private var pace = CommitPace()
    private var lanes = Lanes()
    private(set) var isStopped = false
    /// The deletion of purged rows.
    let deletion = PurgeDeletion()
    /// The deletion of old notifications.
    let trimming = Trimming()

    init(
        _ opening: Opening, logger: Logger, probeInterval: Duration,
        outcomes: @escaping @Sendable ([Outcome]) -> Void
    ) {
        pool = opening.pool
        path = opening.file
        ownership = opening.ownership
        self.logger = logger
        self.probeInterval = probeInterval
        self.outcomes = outcomes
        sequence = Atomic(opening.lastSequence)
        entries = EntryWriter(tail: opening.tail, applied: opening.applied)
        late = entries.late
        log = WriteAheadLog()
        condition = StoreCondition(of: opening, logger: logger)
        log.attach(to: pool, condition)
        // Notes what is there.
        condition.findChangedFile(pool)
        // Purges that an earlier process did not finish.
        queue.async { [weak self] in
            if let self { deletion.start(in: self) }
        }
    }

    /// The sequence of the last committed entry.
    var lastSequence: Int64 { sequence.load(ordering: .acquiring) }

    /// The number of waiting entries and reads.
    var waitingCount: Int { inbox.withLock { $0.count } }

    /// Whether the file can be written now.
    var isWriting: Bool { !isStopped && condition.isWriting }

    func add(_ item: Inbox.Item) {
        guard inbox.withLock({ $0.add(item) }) else { return }
        queue.async { self.drain() }
    }

    /// Writes the changes of all entries committed so far to the file's records; throws what kept them from being
    /// written.
    ///
    /// Must not be called on the writer's own thread.
    func finishTail() throws {
        try queue.sync {
            while !isStopped, !entries.tail.isEmpty { try makeChanges() }
        }
    }

    /// Settles everything that was added, and refuses later entries; returns false if the writer had already ended.
    func close() -> Bool {
        queue.sync {
            drain()
            while !isStopped, !entries.tail.isEmpty, condition.unavailability == nil {
                makeChangesOrWait()
            }
            defer { condition.close() }
            return stop()
        }
    }

    /// Ends like a killed process and drops waiting items; returns false if the writer had already ended.
    func abandon() -> Bool {
        // Set at once, so that the group being settled now is the last one.
        condition.abandon()
        return queue.sync { stop() }
    }

    /// Tries a commit now, instead of waiting for the next probe, if the last one failed.
    func probe() {
        queue.sync { tryProbe() }
    }

    private func stop() -> Bool {
        guard !isStopped else { return false }
        isStopped = true
        entries.end()
        return true
    }

    private func drain() {
        while let items = gathered() {
            for group in Inbox.groups(of: items) {
                if !group.entries.isEmpty { condition.lookAtFiles(pool) }
                let settled = settle(group.entries)
                if condition.isAbandoned { continue }
                if !settled.isEmpty { outcomes(settled) }
                if condition.unavailability == nil { log.follow(pool) }
                for read in group.reads { read() }
                while entries.tail.isLong, condition.unavailability == nil, !condition.isClosed {
                    makeChangesOrWait()
                }
                trimming.trimIfDue(in: self)
                deletion.followGroup(in: self)
            }
        }
        trimming.trimSoon(in: self)
    }

    /// Takes the items to settle next.
    private func gathered() -> [Inbox.Item]? {
        let wait = pace.wait
        if wait > 0 { usleep(UInt32(wait / 1_000)) }
        return inbox.withLock { $0.takeAll() }
    }
}

// MARK: The inbox

/// The queue of the writer's thread, in order of arrival.
struct Inbox {
    /// An entry with the ticket of its outcome; a class, because it is passed on several times.
    final class Appended: Sendable {
        let entry: Entry
        let ticket: UInt64
        /// The size of its encoding in bytes.
        let size: Int

        init(entry: consuming Entry, ticket: UInt64) {
            size = entry.encodedSize
            self.entry = entry
            self.ticket = ticket
        }
    }

    /// An item of the queue.
    enum Item: Sendable {
        case entry(Appended)
        /// Started when all entries before it are settled.
        case read(@Sendable () -> Void)
    }

    /// The entries of one transaction, and the reads that follow it.
    struct Group {
        var entries: [Appended] = []
        var reads: [@Sendable () -> Void] = []
    }

    private var waiting: [Item] = []
    private var isDraining = false

    /// The number of waiting items, without those that the writer is processing.
    var count: Int { waiting.count }

    /// Adds an item; returns whether the caller has to wake the writer.
    mutating func add(_ item: Item) -> Bool {
        waiting.append(item)
        defer { isDraining = true }
        return !isDraining
    }

    /// Takes all items; nil if there are none, and the writer then stops.
    mutating func takeAll() -> [Item]? {
        guard !waiting.isEmpty else {
            isDraining = false
            return nil
        }
        defer { waiting = [] }
        return waiting
    }

    /// Splits items into groups of at most 1,000 entries, or fewer if they exceed 8 MiB.
    ///
    /// A read may also wait for later entries of its group; it is guaranteed to come after all entries before it.
    static func groups(of items: [Item]) -> [Group] {
        var groups: [Group] = []
        var group = Group()
        var bytes = 0
        for item in items {
            switch item {
            case .entry(let appended):
                if group.entries.count == 1_000 || bytes >= 8 << 20 {
                    groups.append(group)
                    group = Group()
                    bytes = 0
                }
                group.entries.append(appended)
                bytes += appended.size
            case .read(let read):
                group.reads.append(read)
            }
        }
        groups.append(group)
        return groups
    }
}

// MARK: Settling groups

extension Writer {
    private func settle(_ group: [Inbox.Appended]) -> [Outcome] {
        guard !group.isEmpty else { return [] }
        if let refusal = condition.refusal { return group.map { refuse($0, refusal) } }
        do {
            return try commit(group)
        } catch {
            guard group.count > 1, !Self.isBusy(error) else {
                // With a locked file, each retried entry would wait for the lock in turn.
                return [fail(group[0], error)] + settle(Array(group.dropFirst()))
            }
            logger.warning(
                "a group of changes could not be written: they are tried one by one",
                metadata: ["count": "\(group.count)", "reason": "\(Self.reason(error))"])
        }
        return group.map { appended in
            if let refusal = condition.refusal { return refuse(appended, refusal) }
            do {
                return try commit([appended])[0]
            } catch {
                return fail(appended, error)
            }
        }
    }

    /// Writes the entries of a group that their lanes allow, in one transaction; throws if that failed.
    private func commit(_ group: [Inbox.Appended]) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(group.count)
        var lanes = lanes
        let first = lastSequence
        var next = first
        let began = StoreMeters.now()
        var written = began
        try transact { entries, db in
            for appended in group {
                let position = try entries.position(of: appended.entry.container, db)
                if let refusal = lanes.refusal(of: appended, at: position) {
                    lanes.fail(appended.entry)
                    outcomes.append(Outcome(appended, .failure(refusal)))
                    continue
                }
                let commit = try entries.write(appended.entry, sequence: next + 1, db)
                next += 1
                outcomes.append(Outcome(appended, .success(commit)))
            }
            guard next > first else { return false }
            written = StoreMeters.now()
            return true
        }
        self.lanes = lanes
        sequence.store(next, ordering: .releasing)
        trimming.add(group, outcomes)
        if next > first {
            meters.record(Int(next - first), began: began, written: written)
            pace.record(Int(next - first), from: written, to: StoreMeters.now())
        }
        if group.contains(where: { !$0.entry.purges.isEmpty }) { deletion.start(in: self) }
        return outcomes
    }

    private func fail(_ appended: Inbox.Appended, _ error: any Error) -> Outcome {
        let reason = Self.reason(error)
        if Self.isStorage(error) {
            suspend(error)
            // Another try would not help, as with all later entries.
            if let refusal = condition.refusal, case .damaged = refusal {
                return refuse(appended, refusal)
            }
        } else {
            logger.log(
                .entryNotWritten,
                ["container": "\(appended.entry.container)", "reason": "\(reason)"])
        }
        return refuse(appended, .storage(reason: reason))
    }

    private func refuse(_ appended: Inbox.Appended, _ failure: EntryFailure) -> Outcome {
        lanes.fail(appended.entry)
        return Outcome(appended, .failure(failure))
    }

    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as DatabaseError: error.reason
        case let error as UnwritableEntry: error.reason
        default: String(describing: error)
        }
    }

    /// Whether another process holds the file's lock, so that nothing of the group was tried.
    private static func isBusy(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_BUSY
    }

    static func isStorage(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError: !error.blamesEntry
        default: false
        }
    }
}

// MARK: Transactions

extension Writer {
    /// Runs a transaction; an error, or false, rolls it back.
    func transact(_ body: (inout EntryWriter, Database) throws -> Bool) throws {
        try pool.writeWithoutTransaction { db in
            try entries.transact(db) { entries in try body(&entries, db) }
        }
    }

    /// Writes some of the tail's changes to the records, in a transaction of their own.
    private func makeChanges() throws {
        try condition.checkSound()
        try transact { entries, db in
            try entries.makeChanges(atMost: Tail.most, db)
            return true
        }
    }

    /// Does the same as ``makeChanges()``; after a failure the changes wait until the file can be written.
    private func makeChangesOrWait() {
        do {
            try makeChanges()
        } catch {
            suspend(error)
        }
    }
}

// MARK: Probes

extension Writer {
    /// Stops writing after a storage error, until a probe succeeds.
    func suspend(_ error: any Error) {
        guard !condition.noteDamage(error) else { return }
        let reason = Self.reason(error)
        logger.log(.storeUnwritable, ["path": "\(path)", "reason": "\(reason)"])
        scheduleProbe(reason)
    }

    private func scheduleProbe(_ reason: String) {
        let due = ContinuousClock.now + probeInterval
        condition.suspend(because: reason, nextProbe: due)
        let seconds = probeInterval / .seconds(1)
        queue.asyncAfter(deadline: .now() + seconds) { [weak self] in self?.tryProbe(due: due) }
    }

    /// Commits a row of some size, because a probe that fits into a spare page proves little; does nothing if another
    /// probe has replaced the one that was due.
    private func tryProbe(due: ContinuousClock.Instant? = nil) {
        guard condition.awaits(probe: due) else { return }
        do {
            try pool.writeWithoutTransaction { db in
                // Entries and reads wait behind the probe, so it does not wait for a lock.
                try db.execute(sql: "PRAGMA busy_timeout = 0")
                defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Opening.patience)") }
                try db.execute(sql: "INSERT OR REPLACE INTO probe VALUES (1, zeroblob(65536))")
                try db.execute(sql: "DELETE FROM probe")
            }
            // If the tail's changes still can't be written, accepting entries would fail again at once.
            while entries.tail.isLong { try makeChanges() }
        } catch {
            if !condition.noteDamage(error) { scheduleProbe(Self.reason(error)) }
            return
        }
        condition.resume()
        logger.log(.storeWritable, ["path": "\(path)"])
        deletion.start(in: self)
    }
}

extension Outcome {
    init(_ appended: Inbox.Appended, _ result: Result<Commit, EntryFailure>) {
        self.init(ticket: appended.ticket, result: result)
    }
}

/// The epochs that are refused, by container.
///
/// An entry's decision depends on the entries before it in its lane. So once one entry is not written, for any reason,
/// all later ones of its epoch depend on a change that did not happen.
struct Lanes {
    private var failed: [String: Int] = [:]

    /// Why an entry can't be written at a position of its container; nil: it can.
    func refusal(of appended: Inbox.Appended, at position: Int64) -> EntryFailure? {
        if let epoch = failed[appended.entry.container], appended.entry.epoch <= epoch {
            return .olderEpoch(epoch: epoch)
        }
        if let expected = appended.entry.expectedPosition, expected != position {
            return .stale(position: position)
        }
        if appended.size > Entry.mostBytes { return .tooLarge(bytes: appended.size) }
        return nil
    }

    /// Refuses entries of the entry's epoch and older ones from now on.
    mutating func fail(_ entry: Entry) {
        failed[entry.container] = max(failed[entry.container] ?? entry.epoch, entry.epoch)
    }
}
