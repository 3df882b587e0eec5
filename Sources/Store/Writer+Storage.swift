internal import Dispatch
internal import GRDB
internal import LogMessages
internal import Logging
internal import Synchronization

// What becomes of a writer whose file can't be written, or is damaged.
extension Writer {
    func suspend(_ error: any Error) {
        guard !noteDamage(error) else { return }
        let reason = Self.reason(error)
        logger.tell(.storeUnwritable, ["path": "\(path)", "reason": "\(reason)"])
        scheduleProbe(reason)
    }

    /// Sees to it that nothing is written any more where SQLite says that the file is damaged.
    ///
    /// - Returns: whether it says so.
    @discardableResult
    func noteDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError, error.isDamage else { return false }
        sawDamage.store(true, ordering: .releasing)
        let reason = "its file is damaged and only read (\(error.reason)): restore a backup"
        let isFirst = condition.withLock { condition in
            guard condition.mayWrite else { return false }
            condition = .damaged(reason: reason)
            return true
        }
        if isFirst { logger.tell(.storeReadOnly, ["path": "\(path)", "reason": "\(reason)"]) }
        return true
    }

    /// Throws where nothing may be written any more.
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

    /// Commits something of some size: a probe that finds room in a spare page proves little.
    ///
    /// - Parameter due: the probe this is; it does nothing if another one took its place.
    func tryProbe(due: ContinuousClock.Instant? = nil) {
        guard case .unavailable(_, let nextProbe) = condition.withLock({ $0 }) else { return }
        guard due == nil || due == nextProbe else { return }
        do {
            try pool.writeWithoutTransaction { db in
                // Entries and reads stand behind it: it waits for no lock.
                try db.execute(sql: "PRAGMA busy_timeout = 0")
                defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Opening.patience)") }
                try db.execute(sql: "INSERT OR REPLACE INTO probe VALUES (1, zeroblob(65536))")
                try db.execute(sql: "DELETE FROM probe")
            }
            // What failed for the tail would fail again at once.
            while entries.tail.isLong { try makeChanges() }
        } catch {
            if !noteDamage(error) { scheduleProbe(Self.reason(error)) }
            return
        }
        condition.withLock { if $0.mayWrite { $0 = .writing } }
        logger.tell(.storeWritable, ["path": "\(path)"])
        deletePurged()
    }
}

extension Writer.Condition {
    /// Whether nothing follows it.
    var isFinal: Bool {
        switch self {
        case .writing, .unavailable, .damaged: false
        case .closed, .abandoned: true
        }
    }

    /// Whether something may be written now or later.
    var mayWrite: Bool {
        switch self {
        case .writing, .unavailable: true
        case .damaged, .closed, .abandoned: false
        }
    }
}
