internal import Dispatch
internal import GRDB
internal import GRDBSQLite
internal import LogMessages
internal import Logging
internal import Synchronization

/// Deletes old notifications in slices, between groups of entries, and returns the pages that are then unused.
///
/// Any thread may set the limits, and ask what is kept; everything else is used on the writer's queue only. The writer is
/// an argument, because it owns this.
final class Trimming {
    /// What other threads read.
    private struct State {
        /// The limits; nil until they are set.
        var limits: Retention?
        /// The past notifications that are kept, as far as they were counted; nil: not counted yet.
        var kept: KeptPast?
        /// The number of pending steps of counting, trimming and shrinking.
        var steps = 0
    }

    private let state = Mutex(State())
    /// Whether another slice waits on the queue.
    private var isQueued = false
    /// The past notifications that are kept; nil until they were counted.
    private var past: PastCount?

    func setLimits(_ limits: Retention, in writer: Writer) {
        let isFirst = state.withLock { state in
            defer { state.limits = limits }
            return state.limits == nil
        }
        if isFirst { return recount(in: writer) }
        step(in: writer) { trimming, writer in
            trimming.past?.limits = limits
            // Stricter limits are met at once, not only when they are exceeded by far.
            if trimming.past?.isBeyond == true { trimming.trimSlice(in: writer) }
            trimming.trimSoon(in: writer)
        }
    }

    /// What is kept, once it was counted.
    var kept: KeptPast? { state.withLock { $0.kept } }

    /// Waits until nothing is counted, trimmed or shrunk any more; called on another thread.
    func wait(for writer: Writer) {
        repeat { writer.queue.sync {} } while state.withLock { $0.steps > 0 }
    }

    /// Counts the notifications of a group that was committed.
    func add(_ group: [Inbox.Appended], _ outcomes: [Outcome]) {
        guard past != nil else { return }
        for (appended, outcome) in zip(group, outcomes) {
            if case .success(let commit) = outcome.result {
                past?.add(appended.entry, commit.sequence)
            }
        }
    }

    // MARK: The count

    /// Counts the kept notifications again; does nothing until limits are set.
    ///
    /// It runs on a thread of its own, because it reads all entries.
    func recount(in writer: Writer) {
        guard let limits = state.withLock({ $0.limits }) else { return }
        state.withLock { $0.steps += 1 }
        writer.queue.async {
            // Nothing is trimmed during the count.
            writer.trimming.past = nil
            Self.count(limits, for: writer)
        }
    }

    private static func count(_ limits: Retention, for writer: Writer) {
        DispatchQueue(label: "atrium.store.count", qos: .utility).async {
            let result = Result {
                try writer.pool.read { db in
                    // All of the log is read, and what SQLite keeps of it is not read again soon.
                    defer { sqlite3_db_release_memory(db.sqliteConnection) }
                    var count = PastCount(limits)
                    try count.countRest(db)
                    return count
                }
            }
            writer.trimming.step(in: writer) { trimming, writer in
                trimming.adopt(result, in: writer)
                trimming.state.withLock { $0.steps -= 1 }
            }
        }
    }

    private func adopt(_ result: Result<PastCount, any Error>, in writer: Writer) {
        guard !writer.isStopped else { return }
        do {
            var count = try result.get()
            count.limits = state.withLock { $0.limits } ?? count.limits
            // Count what was committed during the count.
            try writer.pool.writeWithoutTransaction { db in try count.countRest(db) }
            past = count
            if count.missing > 0 {
                let missing = "entries of the log are missing (\(count.missing))"
                writer.logger.log(
                    .pastDamaged, ["path": "\(writer.path)", "reason": "\(missing)"])
            }
        } catch {
            writer.condition.noteDamage(error)
            return writer.logger.log(.trimFailed, ["reason": "\(Writer.reason(error))"])
        }
        if past?.isBeyond == true { trimSlice(in: writer) }
        trimSoon(in: writer)
    }

    private func noteKept() {
        guard let past else { return }
        state.withLock {
            $0.kept = KeptPast(
                count: past.count, bytes: past.bytes, limits: past.limits, missing: past.missing)
        }
    }

    // MARK: Slices

    /// Deletes some of the notifications, if the limits are exceeded by far.
    func trimIfDue(in writer: Writer) {
        if past?.isDue == true { trimSlice(in: writer) }
    }

    /// Continues to trim once nothing else waits, as long as enough is left to delete.
    func trimSoon(in writer: Writer) {
        noteKept()
        guard past?.isDue == true, writer.isWriting else { return }
        step(in: writer) { trimming, writer in
            guard trimming.past?.isDue == true else { return }
            trimming.trimSlice(in: writer)
            trimming.trimSoon(in: writer)
        }
    }

    /// Deletes some of the notifications that exceed the limits, and schedules the next slice until they are met.
    private func trimSlice(in writer: Writer) {
        guard writer.isWriting, var count = past else { return }
        do {
            try writer.transact { entries, db in
                // Entries whose changes are waiting can't be deleted.
                try entries.makeChanges(atMost: Tail.most, db)
                try count.trimSlice(db)
                return true
            }
        } catch {
            if Writer.isStorage(error) {
                writer.suspend(error)
            } else {
                // With `trimmed` lost, it would be unknown which subscribers have a gap: so nothing is deleted.
                if error is LostNumber { past = nil } else { past?.rest() }
                writer.logger.log(.trimFailed, ["reason": "\(Writer.reason(error))"])
            }
            return
        }
        past = count
        noteKept()
        guard count.isBeyond else { return shrinkSoon(in: writer) }
        guard !isQueued else { return }
        isQueued = true
        step(in: writer) { trimming, writer in
            trimming.isQueued = false
            if trimming.past?.isBeyond == true { trimming.trimSlice(in: writer) }
        }
    }

    // MARK: Unused pages

    /// Returns unused pages once nothing else waits, as long as there are many.
    func shrinkSoon(in writer: Writer) {
        step(in: writer) { trimming, writer in
            guard trimming.attempt(SparePages.areMany, in: writer) else { return }
            trimming.shrink(in: writer)
        }
    }

    private func shrink(in writer: Writer) {
        step(in: writer) { trimming, writer in
            guard trimming.attempt(SparePages.giveBack, in: writer) else { return }
            trimming.shrink(in: writer)
        }
    }

    /// Changes the file for work that no caller waits for; returns false if it can't be written, or on failure.
    private func attempt(_ work: (Database) throws -> Bool, in writer: Writer) -> Bool {
        guard writer.isWriting else { return false }
        do {
            return try writer.pool.writeWithoutTransaction(work)
        } catch {
            if Writer.isStorage(error) { writer.suspend(error) }
            return false
        }
    }

    /// Runs the body on the queue, after the work that waits there already.
    private func step(
        in writer: Writer, _ body: @escaping @Sendable (Trimming, Writer) -> Void
    ) {
        state.withLock { $0.steps += 1 }
        writer.queue.async {
            body(writer.trimming, writer)
            writer.trimming.state.withLock { $0.steps -= 1 }
        }
    }
}
