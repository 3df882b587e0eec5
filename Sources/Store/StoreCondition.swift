internal import GRDB
internal import LogMessages
internal import Logging
internal import Synchronization

/// Whether the store's file can be written, and why not; any thread may ask.
///
/// Damage and lost files are final until the process ends. After another storage error the writer probes until it can
/// write again.
final class StoreCondition: Sendable {
    private enum State: Sendable {
        case writing
        /// A storage error stopped writing; the next probe is due at this instant.
        case unavailable(reason: String, nextProbe: ContinuousClock.Instant)
        /// The file is only read: SQLite reports that it is damaged, or did so to an earlier process, or it is no longer
        /// under its name.
        case damaged(reason: String)
        case closed
        /// Writing ended as after a kill: no outcomes are delivered.
        case abandoned

        /// Whether no other state can follow.
        var isFinal: Bool {
            switch self {
            case .writing, .unavailable, .damaged: false
            case .closed, .abandoned: true
            }
        }

        /// Whether entries may be written now or later.
        var mayWrite: Bool {
            switch self {
            case .writing, .unavailable: true
            case .damaged, .closed, .abandoned: false
            }
        }
    }

    /// The time between two checks of the files, in nanoseconds.
    private static let betweenLooks: Int64 = 1_000_000_000

    private let path: String
    private let logger: Logger
    let files: OwnFiles
    private let state: Mutex<State>
    /// Whether SQLite reported that the file is damaged, also while the store is being closed.
    private let sawDamage: Atomic<Bool>
    private let lostFile = Atomic(false)
    /// Whether another program wrote into one of the files.
    private let foreignWrite = Atomic(false)
    /// The content of the files at the last look; nil: there was none, or copying the log failed since.
    private let content = Mutex<FileContent?>(nil)
    /// The earliest time at which an entry causes the next check of the files, in nanoseconds.
    private let nextLook = Atomic<Int64>(0)

    init(of opening: Opening, logger: Logger) {
        path = opening.file
        self.logger = logger
        files = OwnFiles(of: opening.file)
        let damage = opening.damages.first(where: \.forbidsWrites)
        sawDamage = Atomic(damage != nil)
        state = Mutex(damage.map { State.damaged(reason: $0.refusal) } ?? .writing)
    }

    // MARK: What may be written

    /// Why nothing can be written now; nil: writing works, or has ended.
    var unavailability: String? {
        switch state.withLock({ $0 }) {
        case .unavailable(let reason, _), .damaged(let reason): reason
        case .writing, .closed, .abandoned: nil
        }
    }

    /// Why no entries at all can be written now; nil: they can.
    var refusal: EntryFailure? {
        switch state.withLock({ $0 }) {
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

    var isWriting: Bool {
        if case .writing = state.withLock({ $0 }) { true } else { false }
    }

    var isDamaged: Bool { damage != nil }

    var isClosed: Bool { state.withLock { $0.isFinal } }

    var isAbandoned: Bool {
        if case .abandoned = state.withLock({ $0 }) { true } else { false }
    }

    private var damage: String? {
        if case .damaged(let reason) = state.withLock({ $0 }) { reason } else { nil }
    }

    /// Throws if nothing may be written any more.
    func checkSound() throws {
        guard let damage else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: damage)
    }

    // MARK: The end

    /// Ends writing, unless it has ended.
    func close() { state.withLock { if !$0.isFinal { $0 = .closed } } }

    /// Ends writing as after a kill, unless it has ended.
    func abandon() { state.withLock { if !$0.isFinal { $0 = .abandoned } } }

    // MARK: Storage errors

    /// Stops writing until a probe succeeds.
    func suspend(because reason: String, nextProbe: ContinuousClock.Instant) {
        state.withLock { state in
            if state.mayWrite { state = .unavailable(reason: reason, nextProbe: nextProbe) }
        }
    }

    /// Whether writing waits for a probe that was due at this time, which another one may have replaced; nil: for
    /// any.
    func awaits(probe: ContinuousClock.Instant?) -> Bool {
        guard case .unavailable(_, let nextProbe) = state.withLock({ $0 }) else { return false }
        return probe == nil || probe == nextProbe
    }

    /// Writes again after a probe.
    func resume() { state.withLock { if $0.mayWrite { $0 = .writing } } }

    // MARK: Damage

    /// Whether SQLite reported damage, to this process or an earlier one.
    var hasSeenDamage: Bool { sawDamage.load(ordering: .acquiring) }

    /// Stops all writes, also those of later processes, and returns true, if SQLite reports that the file is damaged.
    @discardableResult
    func noteDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError, error.isDamage else { return false }
        // Under the names of lost files there may be another store.
        if findLostFile() == nil, !hasLostFile,
            !sawDamage.exchange(true, ordering: .acquiringAndReleasing)
        {
            keepNote(of: error)
        }
        let reason = "its file is damaged and only read (\(error.reason)): restore a backup"
        if stopWriting(because: reason) {
            logger.log(.storeReadOnly, ["path": "\(path)", "reason": "\(reason)"])
        }
        return true
    }

    private func keepNote(of error: DatabaseError) {
        do {
            try KeptDamage.writeNote(ofDatabaseDamage: error.reason, in: path)
        } catch {
            logger.warning(
                "no note of the damage could be kept: the next start will write to the file again",
                metadata: ["path": "\(path)", "reason": "\(error)"])
        }
    }

    /// Stops all writes of this process; returns false if they had been stopped already.
    private func stopWriting(because reason: String) -> Bool {
        state.withLock { state in
            guard state.mayWrite else { return false }
            state = .damaged(reason: reason)
            return true
        }
    }

    // MARK: Files

    /// Whether one of the files was found under its name no longer.
    var hasLostFile: Bool { lostFile.load(ordering: .acquiring) }

    /// Whether one of the files was found overwritten or cut: they are left as they are, also at the end.
    var hasForeignWrite: Bool { foreignWrite.load(ordering: .acquiring) }

    /// Checks the files before entries are written, at most once a second; called on the writer's queue.
    func lookAtFiles(_ pool: DatabasePool) {
        let now = StoreMeters.now()
        guard now >= nextLook.load(ordering: .relaxed) else { return }
        nextLook.store(now + Self.betweenLooks, ordering: .relaxed)
        findChangedFile(pool)
    }

    /// Stops all writes if a file of the store was removed, replaced, cut or overwritten, and returns its path.
    ///
    /// It waits for the writer's connection: call it away from the event loop.
    @discardableResult
    func findChangedFile(_ pool: DatabasePool) -> String? {
        // The pool of a closed store is closed.
        guard !isClosed else { return nil }
        return pool.writeWithoutTransaction { db in findChangedFile(db) }
    }

    /// Does the same as ``findChangedFile(_:)`` in a call of the writer's connection.
    @discardableResult
    func findChangedFile(_ db: Database) -> String? {
        if let lost = findLostFile() { return lost }
        guard !isClosed, let now = FileContent(db) else { return nil }
        let (database, log) = content.withLock { before in
            let problems = (now.databaseProblem(since: before), now.logProblem)
            if problems.0 == nil, problems.1 == nil { before = now }
            return problems
        }
        let found = database.map { (path, $0) } ?? log.map { ("\(path)-wal", $0) }
        guard let (file, problem) = found else { return nil }
        foreignWrite.store(true, ordering: .releasing)
        return giveUp(
            file,
            because: "\(file) \(problem): another program wrote to it while the store is open, and "
                + "what is written would be lost: stop the daemon, copy its state directory and "
                + "restore a backup")
    }

    /// Forgets what the files contained: copying the log has failed, perhaps half-way.
    func forgetContent() { content.withLock { $0 = nil } }

    /// Stops all writes if a file of the store was removed or replaced, and returns its path.
    @discardableResult
    func findLostFile() -> String? {
        guard !isClosed, let lost = files.missing else { return nil }
        return giveUp(
            lost,
            because: "\(lost) was removed or replaced while the store is open, and what is written "
                + "would be lost: put it back or restore a backup, and restart the daemon")
    }

    /// Stops all writes because of a file, and logs the reason once; returns the file.
    private func giveUp(_ file: String, because reason: String) -> String {
        lostFile.store(true, ordering: .releasing)
        if stopWriting(because: reason) {
            logger.log(.storeLost, ["path": "\(file)", "reason": "\(reason)"])
        }
        return file
    }
}
