internal import Dispatch
internal import GRDB
internal import LogMessages
internal import Logging
internal import Synchronization

// Handles a file that can't be written, or is damaged.
extension Writer {
    func suspend(_ error: any Error) {
        guard !noteDamage(error) else { return }
        let reason = Self.reason(error)
        logger.log(.storeUnwritable, ["path": "\(path)", "reason": "\(reason)"])
        scheduleProbe(reason)
    }

    /// Stops all writes, also those of later processes, if SQLite reports that the file is damaged.
    ///
    /// - Returns: whether it reports that.
    @discardableResult
    func noteDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError, error.isDamage else { return false }
        // Under the names of lost files there may be another store.
        if findLostFile() == nil, !hasLostFile.load(ordering: .acquiring),
            !sawDamage.exchange(true, ordering: .acquiringAndReleasing)
        {
            keepNote(of: error)
        }
        let reason = "its file is damaged and only read (\(error.reason)): restore a backup"
        let isFirst = condition.withLock { condition in
            guard condition.mayWrite else { return false }
            condition = .damaged(reason: reason)
            return true
        }
        if isFirst { logger.log(.storeReadOnly, ["path": "\(path)", "reason": "\(reason)"]) }
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

    /// Throws if nothing may be written any more.
    func checkSound() throws {
        guard case .damaged(let reason) = condition.withLock({ $0 }) else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: reason)
    }

    private func scheduleProbe(_ reason: String) {
        let due = ContinuousClock.now + probeInterval
        condition.withLock { condition in
            if condition.mayWrite { condition = .unavailable(reason: reason, nextProbe: due) }
        }
        let seconds = probeInterval / .seconds(1)
        queue.asyncAfter(deadline: .now() + seconds) { [weak self] in self?.tryProbe(due: due) }
    }

    /// Commits a row of some size, because a probe that fits into a spare page proves little.
    ///
    /// - Parameter due: the time at which this probe was due; if another probe has replaced it, it does nothing.
    func tryProbe(due: ContinuousClock.Instant? = nil) {
        guard case .unavailable(_, let nextProbe) = condition.withLock({ $0 }) else { return }
        guard due == nil || due == nextProbe else { return }
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
            if !noteDamage(error) { scheduleProbe(Self.reason(error)) }
            return
        }
        condition.withLock { if $0.mayWrite { $0 = .writing } }
        logger.log(.storeWritable, ["path": "\(path)"])
        deletePurged()
    }
}

extension Writer.Condition {
    /// Whether no other condition can follow.
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
