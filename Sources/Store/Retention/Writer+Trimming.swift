internal import Dispatch
internal import GRDB
internal import GRDBSQLite
internal import LogMessages
internal import Logging
internal import Synchronization

/// The state of trimming that other threads read.
struct Trimming {
    /// The limits; nil until they are set.
    var limits: Retention?
    /// The past notifications that are kept, as far as they were counted; nil: not counted yet.
    var kept: KeptPast?
    /// The number of pending steps of counting, trimming and shrinking.
    var steps = 0
}

// Deletes old notifications in slices, between groups of entries.
extension Writer {
    /// Sets the limits.
    func setRetention(_ limits: Retention) {
        let isFirst = trimming.withLock { trimming in
            defer { trimming.limits = limits }
            return trimming.limits == nil
        }
        if isFirst { return recount() }
        step { writer in
            writer.past?.limits = limits
            // Stricter limits are met at once, not only when they are exceeded by far.
            if writer.past?.isBeyond == true { writer.trimSlice() }
            writer.trimSoon()
        }
    }

    var keptPast: KeptPast? { trimming.withLock { $0.kept } }

    /// Counts the kept notifications again; does nothing until limits are set.
    ///
    /// It runs on a thread of its own, because it reads all entries.
    func recount() {
        guard let limits = trimming.withLock({ $0.limits }) else { return }
        trimming.withLock { $0.steps += 1 }
        queue.async { [self] in
            // Nothing is trimmed during the count.
            past = nil
            count(limits)
        }
    }

    private func count(_ limits: Retention) {
        DispatchQueue(label: "atrium.store.count", qos: .utility).async { [self, pool] in
            let result = Result {
                try pool.read { db in
                    // All of the log is read, and what SQLite keeps of it is not read again soon.
                    defer { sqlite3_db_release_memory(db.sqliteConnection) }
                    var count = PastCount(limits)
                    try count.countRest(db)
                    return count
                }
            }
            step { writer in
                writer.adopt(result)
                writer.trimming.withLock { $0.steps -= 1 }
            }
        }
    }

    private func adopt(_ result: Result<PastCount, any Error>) {
        guard !isStopped else { return }
        do {
            var count = try result.get()
            count.limits = trimming.withLock { $0.limits } ?? count.limits
            // Count what was committed during the count.
            try pool.writeWithoutTransaction { db in try count.countRest(db) }
            past = count
            if count.missing > 0 {
                let missing = "entries of the log are missing (\(count.missing))"
                logger.log(.pastDamaged, ["path": "\(path)", "reason": "\(missing)"])
            }
        } catch {
            noteDamage(error)
            return logger.log(.trimFailed, ["reason": "\(Self.reason(error))"])
        }
        if past?.isBeyond == true { trimSlice() }
        trimSoon()
    }

    /// Continues to trim once nothing else waits, as long as enough is left to delete.
    func trimSoon() {
        noteKept()
        guard past?.isDue == true, isWriting else { return }
        step { writer in
            guard writer.past?.isDue == true else { return }
            writer.trimSlice()
            writer.trimSoon()
        }
    }

    /// Deletes some of the notifications that exceed the limits, and schedules the next slice until they are met.
    func trimSlice() {
        guard isWriting, var count = past else { return }
        do {
            try pool.writeWithoutTransaction { db in
                try entries.transact(db) { entries in
                    // Entries whose changes are waiting can't be deleted.
                    try entries.makeChanges(atMost: Tail.most, db)
                    try count.trimSlice(db)
                    return true
                }
            }
        } catch {
            if Self.isStorage(error) {
                suspend(error)
            } else {
                // With `trimmed` lost, it would be unknown which subscribers have a gap: so nothing is deleted.
                if error is LostNumber { past = nil } else { past?.rest() }
                logger.log(.trimFailed, ["reason": "\(Self.reason(error))"])
            }
            return
        }
        past = count
        noteKept()
        guard count.isBeyond else { return shrinkSoon() }
        guard !isTrimQueued else { return }
        isTrimQueued = true
        step { writer in
            writer.isTrimQueued = false
            if writer.past?.isBeyond == true { writer.trimSlice() }
        }
    }

    /// Returns unused pages once nothing else waits, as long as there are many.
    func shrinkSoon() {
        step { writer in
            guard writer.isWriting, writer.attempt(SparePages.areMany) else { return }
            writer.shrink()
        }
    }

    private func shrink() {
        step { writer in
            guard writer.isWriting, writer.attempt(SparePages.giveBack) else { return }
            writer.shrink()
        }
    }

    /// Changes the file for work that no caller waits for; returns false on failure.
    private func attempt(_ work: (Database) throws -> Bool) -> Bool {
        do {
            return try pool.writeWithoutTransaction(work)
        } catch {
            if Self.isStorage(error) { suspend(error) }
            return false
        }
    }

    private var isWriting: Bool {
        guard !isStopped, case .writing = condition.withLock({ $0 }) else { return false }
        return true
    }

    private func noteKept() {
        guard let past else { return }
        trimming.withLock {
            $0.kept = KeptPast(
                count: past.count, bytes: past.bytes, limits: past.limits, missing: past.missing)
        }
    }

    /// Runs the body on the queue, after the work that waits there already.
    private func step(_ body: @escaping @Sendable (Writer) -> Void) {
        trimming.withLock { $0.steps += 1 }
        queue.async { [self] in
            body(self)
            trimming.withLock { $0.steps -= 1 }
        }
    }

    func waitForTrimming() {
        repeat { queue.sync {} } while trimming.withLock { $0.steps > 0 }
    }
}
