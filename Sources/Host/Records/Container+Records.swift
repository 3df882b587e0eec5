import AtriumKit

// Export and restore of records.
extension Container {
    /// The components that keep records: contents first, the others in their order.
    var recordSources: [RecordExport.Source] {
        let sources = slots.compactMap { slot in
            slot.kind.map { RecordExport.Source(component: slot.name, kind: $0) }
        }
        return sources.filter { $0.kind == .contents }
            + sources.filter { $0.kind == .votes || $0.kind == .comments }
    }

    /// Restores exported records: all of them or none, with one entry.
    ///
    /// Records that exist with the same content stay untouched.
    ///
    /// Items are checked against the container's fields. Votes are not checked against the scale again, nor comments
    /// against the rules for posting, and no delegate is asked.
    ///
    /// - Parameters:
    ///   - records: at most 1,000 and 1 MiB.
    ///   - caller: on whose behalf.
    ///   - reply: fails with `componentNotFound`, `recordInvalid`, `readOnly`, `limitExceeded`,
    ///     `componentUnavailable` or `storeUnavailable`.
    public func restore(
        _ records: [RecordView], by caller: Caller, _ reply: @escaping Answer<RestoreResult>
    ) {
        do throws(HostError) {
            if let error = lane.refusal { throw error }
            try domain.limits.check(batch: records.count, of: records.reduce(0) { $0 + $1.size })
            let restore = try RecordRestore(records, to: self, by: caller, reply)
            meters.count(.commands)
            restore.run()
        } catch {
            reply(.failure(error))
        }
    }
}
