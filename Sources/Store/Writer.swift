internal import Dispatch
internal import GRDB
internal import Glibc
internal import LogMessages
internal import Logging
internal import Synchronization

/// The one writer: a serial queue that turns what waits into commits, and tells what became of it.
///
/// Whatever gathers while one transaction is synced becomes the next one. A failed group is rolled
/// back and retried entry by entry, so that one bad entry costs the others nothing but time.
///
/// Sendable because `entries`, `lanes` and `isStopped` are touched on `queue` alone, and everything
/// else is immutable or has a lock of its own.
final class Writer: @unchecked Sendable {
    /// Whether the file takes writes.
    enum Condition: Sendable {
        case writing
        /// A storage error stopped it; a probe is due at the instant.
        case unavailable(reason: String, nextProbe: ContinuousClock.Instant)
        /// SQLite says that the file is damaged: it is only read until the process ends.
        case damaged(reason: String)
        case closed
        /// As after a kill: no outcome is delivered any more.
        case abandoned
    }

    /// Held here because entries may be on their way to the disk when the store itself is gone.
    let ownership: Ownership
    let queue = DispatchQueue(label: "atrium.store.writer", qos: .userInitiated)
    let pool: DatabasePool
    let path: String
    let logger: Logger
    let probeInterval: Duration
    private let outcomes: @Sendable ([Outcome]) -> Void
    private let inbox = Mutex(Inbox())
    let condition = Mutex(Condition.writing)
    /// Whether SQLite has said that the file is damaged, be it while the store is being closed.
    let sawDamage = Atomic(false)
    private let sequence: Atomic<Int64>
    private let meters = StoreMeters()
    var entries: EntryWriter
    /// What readers are told of changes that are not made to the file's records yet.
    let late: LateRecords
    /// How many entries the last commit had, how long it took, and when it ended, in nanoseconds.
    private var last: (entries: Int, time: Int64, end: Int64) = (0, 0, 0)
    private var lanes = Lanes()
    var isStopped = false
    /// Whether a slice of purged rows is to be deleted once the queue comes to it.
    private var isDeleting = false
    private var sweep = PurgeSweep()
    let trimming = Mutex(Trimming())
    /// Whether another slice of it waits on the queue.
    var isTrimQueued = false
    /// How much of the past there is; nil until it was counted.
    var past: PastCount?
    /// How many groups were settled since a slice was deleted.
    private var groupsSinceSlice = 0
    /// So many groups are settled before a slice that waits is deleted, also where others wait.
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
        // What an earlier process left.
        queue.async { [weak self] in self?.deletePurged() }
    }

    /// The sequence of the last committed entry.
    var lastSequence: Int64 { sequence.load(ordering: .acquiring) }

    /// Why nothing can be written for now; nil when all is well.
    var unavailability: String? {
        switch condition.withLock({ $0 }) {
        case .unavailable(let reason, _), .damaged(let reason): reason
        case .writing, .closed, .abandoned: nil
        }
    }

    var hasSeenDamage: Bool { sawDamage.load(ordering: .acquiring) }

    /// How many entries and reads wait.
    var waitingCount: Int { inbox.withLock { $0.count } }

    var isClosed: Bool { condition.withLock { $0.isFinal } }

    func add(_ item: Inbox.Item) {
        guard inbox.withLock({ $0.add(item) }) else { return }
        queue.async { self.drain() }
    }

    /// Sees to it that the file's records are those of all entries that are committed by now.
    ///
    /// Only to be called on other threads than the writer's own.
    ///
    /// - Throws: what keeps them from being written.
    func finishTail() throws {
        try queue.sync {
            while !isStopped, !entries.tail.isEmpty { try makeChanges() }
        }
    }

    /// Settles all that was added so far and refuses what comes later; false if it had ended before.
    func close() -> Bool {
        queue.sync {
            drain()
            while !isStopped, !entries.tail.isEmpty, unavailability == nil { makeChangesOrWait() }
            return stop(as: .closed)
        }
    }

    /// Ends like a killed process, dropping what waits; false if it had ended before.
    func abandon() -> Bool {
        // At once, so that the group being settled now is the last one.
        condition.withLock { if !$0.isFinal { $0 = .abandoned } }
        return queue.sync { stop(as: .abandoned) }
    }

    /// Waits until all that was purged is deleted, or nothing can be.
    func waitForDeletion() {
        while queue.sync(execute: { isDeleting }) {}
    }

    /// Tries a real commit if the last one failed, instead of waiting for the next probe.
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
                let settled = settle(group.entries)
                if case .abandoned = condition.withLock({ $0 }) { continue }
                if !settled.isEmpty { outcomes(settled) }
                for read in group.reads { read() }
                while entries.tail.isLong, unavailability == nil, !isClosed { makeChangesOrWait() }
                if past?.isDue == true { trimSlice() }
                groupsSinceSlice += 1
                // The queue comes to it only once nothing waits here.
                if isDeleting, groupsSinceSlice >= Self.groupsBetweenSlices { deleteSlice() }
            }
        }
        trimSoon()
    }
}

// MARK: Groups

extension Writer {
    /// Of so many callers of a group most ask again once they are answered.
    private static let fewestTogether = 8
    /// From how long a commit on, in nanoseconds, it is worth waiting for them.
    private static let slowCommit: Int64 = 1_000_000
    private static let longestWait: Int64 = 500_000

    /// What is to be settled next.
    ///
    /// Where the disk is slow, those who were just answered get an eighth of a commit's time to ask again: two halves of
    /// them would else take turns, each waiting for the other's commit.
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
                // Of a locked file each entry would wait for the lock in turn.
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

    /// Writes what its lane allows of the group in one transaction; throws when that failed.
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
                    let entry = appended.entry
                    let position = try entries.position(of: entry.container, db)
                    if let refusal = lanes.refusal(of: appended, at: position) {
                        lanes.fail(entry)
                        outcomes.append(Outcome(appended, .failure(refusal)))
                        continue
                    }
                    let commit = try entries.write(entry, sequence: next + 1, db)
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
        } else {
            logger.tell(
                .entryNotWritten,
                ["container": "\(appended.entry.container)", "reason": "\(reason)"])
        }
        return refuse(appended, .storage(reason: reason))
    }

    private func refuse(_ appended: Inbox.Appended, _ failure: EntryFailure) -> Outcome {
        lanes.fail(appended.entry)
        return Outcome(appended, .failure(failure))
    }

    /// Why no entry at all is written at present.
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
    /// Makes some changes of the tail to the records, in a transaction of their own.
    func makeChanges() throws {
        try checkSound()
        try pool.writeWithoutTransaction { db in
            try entries.transact(db) { entries in
                try entries.makeChanges(atMost: Tail.most, db)
                return true
            }
        }
    }

    /// The same; what could not be written waits for a file that can be.
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
    /// Begins to delete what was purged, unless that goes on already.
    func deletePurged() {
        guard !isDeleting else { return }
        isDeleting = true
        queue.async { [weak self] in
            guard let self else { return }
            isDeleting = false
            if deleteSlice() { deletePurged() } else { shrinkSoon() }
        }
    }

    /// Deletes some rows; what was appended meanwhile is written before the next ones are.
    ///
    /// After an error the rest waits: for a file that can be written again, or for the next start.
    ///
    /// - Returns: whether there may be more.
    @discardableResult
    private func deleteSlice() -> Bool {
        groupsSinceSlice = 0
        guard !isStopped, case .writing = condition.withLock({ $0 }) else { return false }
        var sweep = sweep
        var isDone = false
        do {
            // Not by a reader of the pool: all of them may be at long readings.
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
