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
        let drafts: [RecordDraft]
        do throws(HostError) {
            if let error = refusal { throw error }
            try checkSize(of: records)
            drafts = try read(records)
        } catch {
            return reply(.failure(error))
        }
        meters.count(.commands)
        let fields = definition.fields
        RecordRestore(
            drafts, to: self, by: caller,
            check: { [self] () throws(HostError) in
                // The fields may have changed since the call.
                if definition.fields != fields { _ = try read(records) }
            }, reply
        ).run()
    }

    private func read(_ records: [RecordView]) throws(HostError) -> [RecordDraft] {
        let kinds = slots.compactMap { slot in slot.kind.map { (slot.name, $0) } }
        let reader = RecordReader(
            kinds: Dictionary(kinds) { first, _ in first }, container: name, checker: checker)
        return try reader.read(records)
    }

    private func checkSize(of records: [RecordView]) throws(HostError) {
        let limits = domain.limits
        guard records.count <= limits.batchItems else {
            throw .limitExceeded(limit: "batchItems", value: limits.batchItems, retryAfter: nil)
        }
        guard records.reduce(0, { $0 + $1.size }) <= limits.batchBytes else {
            throw .limitExceeded(limit: "batchBytes", value: limits.batchBytes, retryAfter: nil)
        }
    }
}
