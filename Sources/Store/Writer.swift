internal import Dispatch
internal import GRDB
internal import Glibc
internal import LogMessages
internal import Logging
internal import Synchronization

/// The only writer: a serial queue that commits the entries that wait, and delivers their outcomes.
///
/// Entries that arrive while one transaction is synced form the next one. A failed group is rolled back and retried
/// entry by entry, so one bad entry costs the others only time.
///
/// Sendable because `entries`, `lanes` and `isStopped` are used only on `queue`, and everything else is immutable or
/// has a lock of its own.
final class Writer: @unchecked Sendable {
    /// The state of the file for writes.
    enum Condition: Sendable {
        case writing
        /// A storage error stopped writing; the next probe is due at this instant.
        case unavailable(reason: String, nextProbe: ContinuousClock.Instant)
        /// The file is only read: SQLite reports that it is damaged, or did so to an earlier process, or it is no longer
        /// under its name.
        case damaged(reason: String)
        case closed
        /// Writing ended as after a kill: no outcomes are delivered.
        case abandoned
    }

    /// Held here because entries may still be written after the store itself is released.
    let ownership: Ownership
    let queue = DispatchQueue(label: "atrium.store.writer", qos: .userInitiated)
    let pool: DatabasePool
    let path: String
    let logger: Logger
    let probeInterval: Duration
    private let outcomes: @Sendable ([Outcome]) -> Void
    private let inbox = Mutex(Inbox())
    let condition = Mutex(Condition.writing)
    /// Whether SQLite reported that the file is damaged, also while the store is being closed.
    let sawDamage = Atomic(false)
    private let sequence: Atomic<Int64>
    private let meters = StoreMeters()
    var entries: EntryWriter
    /// The tail, as readers see it.
    let late: LateRecords
    let log: WriteAheadLog
    let files: OwnFiles
    /// Whether one of the files was found under its name no longer.
    let hasLostFile = Atomic(false)
    /// The earliest time at which an entry causes the next check of the files, in nanoseconds.
    private var nextLook: Int64 = 0
    /// The last commit: its number of entries, its duration and its end, in nanoseconds.
    private var last: (entries: Int, time: Int64, end: Int64) = (0, 0, 0)
    private var lanes = Lanes()
    var isStopped = false
    /// Whether a slice of purged rows is to be deleted when the queue comes to it.
    private var isDeleting = false
    private var sweep = PurgeSweep()
    let trimming = Mutex(Trimming())
    /// Whether another slice of trimming waits on the queue.
    var isTrimQueued = false
    /// The past notifications that are kept; nil until they were counted.
    var past: PastCount?
    /// The number of groups settled since a slice was deleted.
    private var groupsSinceSlice = 0
    /// The number of groups after which a pending slice is deleted, even if entries wait.
    static let groupsBetweenSlices = 16

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
        files = OwnFiles(of: opening.file)
        log.attach(to: pool)
        if let damage = opening.damages.first(where: \.forbidsWrites) {
            sawDamage.store(true, ordering: .releasing)
            condition.withLock { $0 = .damaged(reason: damage.refusal) }
        }
        // Purges that an earlier process did not finish.
        queue.async { [weak self] in self?.deletePurged() }
    }

    /// The sequence of the last committed entry.
    var lastSequence: Int64 { sequence.load(ordering: .acquiring) }

    /// Why nothing can be written now; nil: writing works.
    var unavailability: String? {
        switch condition.withLock({ $0 }) {
        case .unavailable(let reason, _), .damaged(let reason): reason
        case .writing, .closed, .abandoned: nil
        }
    }

    var hasSeenDamage: Bool { sawDamage.load(ordering: .acquiring) }

    /// The number of waiting entries and reads.
    var waitingCount: Int { inbox.withLock { $0.count } }

    var isClosed: Bool { condition.withLock { $0.isFinal } }

    func add(_ item: Inbox.Item) {
        guard inbox.withLock({ $0.add(item) }) else { return }
        queue.async { self.drain() }
    }

    /// Writes the changes of all entries committed so far to the file's records.
    ///
    /// Must not be called on the writer's own thread.
    ///
    /// - Throws: the error that kept them from being written.
    func finishTail() throws {
        try queue.sync {
            while !isStopped, !entries.tail.isEmpty { try makeChanges() }
        }
    }

    /// Settles everything that was added, and refuses later entries; returns false if the writer had already ended.
    func close() -> Bool {
        queue.sync {
            drain()
            while !isStopped, !entries.tail.isEmpty, unavailability == nil { makeChangesOrWait() }
            return stop(as: .closed)
        }
    }

    /// Ends like a killed process and drops waiting items; returns false if the writer had already ended.
    func abandon() -> Bool {
        // Set at once, so that the group being settled now is the last one.
        condition.withLock { if !$0.isFinal { $0 = .abandoned } }
        return queue.sync { stop(as: .abandoned) }
    }

    /// Waits until all purged rows are deleted, or deletion has failed.
    func waitForDeletion() {
        while queue.sync(execute: { isDeleting }) {}
    }

    /// Tries a commit now, instead of waiting for the next probe, if the last one failed.
    func probe() {
        queue.sync { tryProbe() }
    }

    private func stop(as final: Condition) -> Bool {
        guard !isStopped else { return false }
        isStopped = true
        entries.end()
        condition.withLock { if !$0.isFinal { $0 = final } }
        return true
    }

    private func drain() {
        while let items = gathered() {
            for group in Inbox.groups(of: items) {
                if !group.entries.isEmpty { lookAtFiles() }
                let settled = settle(group.entries)
                if case .abandoned = condition.withLock({ $0 }) { continue }
                if !settled.isEmpty { outcomes(settled) }
                if unavailability == nil { log.follow(pool) }
                for read in group.reads { read() }
                while entries.tail.isLong, unavailability == nil, !isClosed { makeChangesOrWait() }
                if past?.isDue == true { trimSlice() }
                groupsSinceSlice += 1
                // Otherwise the queue would delete a slice only when no items wait.
                if isDeleting, groupsSinceSlice >= Self.groupsBetweenSlices { deleteSlice() }
            }
        }
        trimSoon()
    }
}

// MARK: Files

extension Writer {
    /// The time between two checks of the files, in nanoseconds.
    private static let betweenLooks: Int64 = 1_000_000_000

    /// Checks the files before entries are written, at most once a second.
    private func lookAtFiles() {
        let now = StoreMeters.now()
        guard now >= nextLook else { return }
        nextLook = now + Self.betweenLooks
        findLostFile()
    }

    /// Stops all writes if a file of the store was removed or replaced.
    ///
    /// - Returns: the file's path; nil: all are where they were.
    @discardableResult
    func findLostFile() -> String? {
        guard !isClosed, let lost = files.missing else { return nil }
        hasLostFile.store(true, ordering: .releasing)
        let reason =
            "\(lost) was removed or replaced while the store is open, and what is written would be lost: put it "
            + "back or restore a backup, and restart the daemon"
        let isFirst = condition.withLock { condition in
            guard condition.mayWrite else { return false }
            condition = .damaged(reason: reason)
            return true
        }
        if isFirst { logger.log(.storeLost, ["path": "\(lost)", "reason": "\(reason)"]) }
        return lost
    }
}

// MARK: Groups

extension Writer {
    /// The smallest group for which waiting is worthwhile: most of its callers will append again.
    private static let fewestTogether = 8
    /// The shortest commit, in nanoseconds, after which waiting is worthwhile.
    private static let slowCommit: Int64 = 1_000_000
    private static let longestWait: Int64 = 500_000

    /// Takes the items to settle next.
    ///
    /// On a slow disk it first waits up to an eighth of a commit's time, so that callers who have just got their
    /// outcomes can append again. Otherwise two halves of them would alternate, each waiting for the other's commit.
    private func gathered() -> [Inbox.Item]? {
        if last.entries >= Self.fewestTogether, last.time >= Self.slowCommit {
            let rest = last.end + min(last.time / 8, Self.longestWait) - StoreMeters.now()
            if rest > 0 { usleep(UInt32(rest / 1_000)) }
        }
        return inbox.withLock { $0.takeAll() }
    }
}

// MARK: Settling groups

extension Writer {
    private func settle(_ group: [Inbox.Appended]) -> [Outcome] {
        guard !group.isEmpty else { return [] }
        if let refusal { return group.map { refuse($0, refusal) } }
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
            if let refusal { return refuse(appended, refusal) }
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
        try pool.writeWithoutTransaction { db in
            try entries.transact(db) { entries in
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
        }
        self.lanes = lanes
        sequence.store(next, ordering: .releasing)
        if past != nil {
            for (appended, outcome) in zip(group, outcomes) {
                if case .success(let commit) = outcome.result {
                    past?.add(appended.entry, commit.sequence)
                }
            }
        }
        if next > first {
            meters.record(Int(next - first), began: began, written: written)
            let end = StoreMeters.now()
            last = (Int(next - first), end - written, end)
        }
        if group.contains(where: { !$0.entry.purges.isEmpty }) { deletePurged() }
        return outcomes
    }

    private func fail(_ appended: Inbox.Appended, _ error: any Error) -> Outcome {
        let reason = Self.reason(error)
        if Self.isStorage(error) {
            suspend(error)
            // Another try would not help, as with all later entries.
            if let refusal, case .damaged = refusal { return refuse(appended, refusal) }
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

    /// Why no entries at all can be written now; nil: they can.
    private var refusal: EntryFailure? {
        switch condition.withLock({ $0 }) {
        case .writing:
            nil
        case .unavailable(_, let nextProbe):
            .unavailable(
                retryAfter: max(0, ContinuousClock.now.duration(to: nextProbe) / .seconds(1)))
        case .damaged(let reason):
            .damaged(reason: reason)
        case .closed, .abandoned:
            .storage(reason: "the store is closed")
        }
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

// MARK: The tail

extension Writer {
    /// Writes some of the tail's changes to the records, in a transaction of their own.
    func makeChanges() throws {
        try checkSound()
        try pool.writeWithoutTransaction { db in
            try entries.transact(db) { entries in
                try entries.makeChanges(atMost: Tail.most, db)
                return true
            }
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

// MARK: Purges

extension Writer {
    /// Starts the deletion of purged rows, unless it is running.
    func deletePurged() {
        guard !isDeleting else { return }
        isDeleting = true
        queue.async { [weak self] in
            guard let self else { return }
            isDeleting = false
            if deleteSlice() { deletePurged() } else { shrinkSoon() }
        }
    }

    /// Deletes some rows; entries appended meanwhile are written before the next slice.
    ///
    /// After an error the rest waits until the file can be written again, or for the next start.
    ///
    /// - Returns: whether more may be left.
    @discardableResult
    private func deleteSlice() -> Bool {
        groupsSinceSlice = 0
        guard !isStopped, case .writing = condition.withLock({ $0 }) else { return false }
        var sweep = sweep
        var isDone = false
        do {
            // Not by a reader of the pool, because all of them may be busy with long reads.
            guard try pool.writeWithoutTransaction(Purged.isPending) else {
                entries.mayBePurged = false
                return false
            }
            try pool.writeWithoutTransaction { db in
                try entries.transact(db) { entries in
                    isDone = try !sweep.deleteSlice(&entries.totals, db)
                    return !isDone
                }
            }
            if !sweep.damaged.isSubset(of: self.sweep.damaged) {
                logger.error(
                    "some of what was purged is not deleted: the rows that say so are damaged",
                    metadata: ["path": "\(path)", "purges": "\(sweep.damaged.sorted())"])
            }
            self.sweep = sweep
            return !isDone
        } catch {
            if Self.isStorage(error) {
                suspend(error)
            } else {
                logger.warning(
                    "purged records could not be deleted: the next start tries again",
                    metadata: ["reason": "\(Self.reason(error))"])
            }
            return false
        }
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
