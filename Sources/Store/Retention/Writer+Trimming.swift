internal import Dispatch
internal import GRDB
internal import LogMessages
internal import Logging
internal import Synchronization

/// What others see of the trimming.
struct Trimming {
    /// The limits; nil until some were set.
    var limits: Retention?
    /// What there is, as far as it was counted.
    var kept: KeptPast?
    /// How many steps of counting, trimming and shrinking are still to come.
    var steps = 0
}

// Old notifications go in slices of their own, between groups of entries.
extension Writer {
    /// Sets the limits.
    func keep(_ limits: Retention) {
        let isFirst = trimming.withLock { trimming in
            defer { trimming.limits = limits }
            return trimming.limits == nil
        }
        if isFirst { return recount() }
        step { writer in
            writer.past?.limits = limits
            // Limits that come nearer are kept to at once, and not only when they are far exceeded.
            if writer.past?.isBeyond == true { writer.trimSlice() }
            writer.trimSoon()
        }
    }

    var keptPast: KeptPast? { trimming.withLock { $0.kept } }

    /// Counts again what there is; does nothing until limits were set.
    ///
    /// On a thread of its own: it reads all entries.
    func recount() {
        guard let limits = trimming.withLock({ $0.limits }) else { return }
        trimming.withLock { $0.steps += 1 }
        queue.async { [self] in
            // Nothing is trimmed while it is counted.
            past = nil
            count(limits)
        }
    }

    private func count(_ limits: Retention) {
        DispatchQueue(label: "atrium.store.count", qos: .utility).async { [self, pool] in
            let result = Result {
                try pool.read { db in
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
            // What was committed while it was counted.
            try pool.writeWithoutTransaction { db in try count.countRest(db) }
            past = count
        } catch {
            return logger.tell(.trimFailed, ["reason": "\(Self.reason(error))"])
        }
        if past?.isBeyond == true { trimSlice() }
        trimSoon()
    }

    /// Goes on trimming once nothing else waits, as long as there is something to trim.
    func trimSoon() {
        noteKept()
        guard past?.isDue == true, isWriting else { return }
        step { writer in
            guard writer.past?.isDue == true else { return }
            writer.trimSlice()
            writer.trimSoon()
        }
    }

    /// Deletes what is beyond the limits, some of it; a slice that was begun goes on until they are kept to.
    func trimSlice() {
        guard isWriting, var count = past else { return }
        do {
            try pool.writeWithoutTransaction { db in
                try entries.transact(db) { entries in
                    // Entries whose changes wait can't go.
                    try entries.makeChanges(atMost: Tail.most, db)
                    try count.trimSlice(db)
                    return true
                }
            }
        } catch {
            if Self.isStorage(error) {
                suspend(error)
            } else {
                // Who is to be told of a gap could not be known: all stays.
                if error is LostNumber { past = nil } else { past?.rest() }
                logger.tell(.trimFailed, ["reason": "\(Self.reason(error))"])
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

    /// Gives spare pages back once nothing else waits, as long as there are many.
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

    /// Does something to the file that nobody waits for; false where it failed.
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
            $0.kept = KeptPast(count: past.count, bytes: past.bytes, limits: past.limits)
        }
    }

    /// Does something on the queue once what waits there is done.
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
