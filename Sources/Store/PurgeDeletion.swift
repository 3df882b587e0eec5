internal import Dispatch
internal import GRDB
internal import Logging

/// Deletes purged rows in slices, between groups of entries.
///
/// It is used on the writer's queue only. The writer is an argument, because it owns this.
final class PurgeDeletion {
    /// The number of groups after which a pending slice is deleted, even if entries wait.
    private static let groupsBetweenSlices = 16

    /// Whether a slice is to be deleted when the queue comes to it.
    private var isPending = false
    private var sweep = PurgeSweep()
    /// The number of groups settled since a slice was deleted.
    private var groups = 0

    /// Starts the deletion, unless it is running.
    func start(in writer: Writer) {
        guard !isPending else { return }
        isPending = true
        writer.queue.async { [weak writer] in
            if let writer { writer.deletion.proceed(in: writer) }
        }
    }

    /// Records that a group was settled.
    func followGroup(in writer: Writer) {
        groups += 1
        // Otherwise the queue would delete a slice only when no items wait.
        if isPending, groups >= Self.groupsBetweenSlices { deleteSlice(in: writer) }
    }

    /// Waits until all purged rows are deleted, or deletion has failed; called on another thread.
    func wait(for writer: Writer) {
        while writer.queue.sync(execute: { isPending }) {}
    }

    private func proceed(in writer: Writer) {
        isPending = false
        if deleteSlice(in: writer) {
            start(in: writer)
        } else {
            writer.trimming.shrinkSoon(in: writer)
        }
    }

    /// Deletes some rows, and returns whether more may be left; entries appended meanwhile are written before the
    /// next slice.
    ///
    /// After an error the rest waits until the file can be written again, or for the next start.
    @discardableResult
    private func deleteSlice(in writer: Writer) -> Bool {
        groups = 0
        guard writer.isWriting else { return false }
        var sweep = sweep
        var isDone = false
        do {
            // Not by a reader of the pool, because all of them may be busy with long reads.
            guard try writer.pool.writeWithoutTransaction(Purged.isPending) else {
                writer.entries.mayBePurged = false
                return false
            }
            try writer.transact { entries, db in
                isDone = try !sweep.deleteSlice(&entries.totals, db)
                return !isDone
            }
            if !sweep.damaged.isSubset(of: self.sweep.damaged) {
                writer.logger.error(
                    "some of what was purged is not deleted: the rows that say so are damaged",
                    metadata: ["path": "\(writer.path)", "purges": "\(sweep.damaged.sorted())"])
            }
            self.sweep = sweep
            return !isDone
        } catch {
            if Writer.isStorage(error) {
                writer.suspend(error)
            } else {
                writer.logger.warning(
                    "purged records could not be deleted: the next start tries again",
                    metadata: ["reason": "\(Writer.reason(error))"])
            }
            return false
        }
    }
}
