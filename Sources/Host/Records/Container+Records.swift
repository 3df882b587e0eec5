import AtriumKit

// Records taken out whole and put back.
extension Container {
    /// The components that keep records, items first, else in their order.
    var recordSources: [RecordExport.Source] {
        let sources = slots.compactMap { slot in
            slot.kind.map { RecordExport.Source(component: slot.name, kind: $0) }
        }
        return sources.filter { $0.kind == .contents }
            + sources.filter { $0.kind == .votes || $0.kind == .comments }
    }

    /// Puts exported records back: all of them or none, with one entry.
    ///
    /// What is there just so stays untouched.
    ///
    /// Items are checked against the container's fields. Whether a vote is on the scale or a comment
    /// may be written is not judged again, and nobody's delegate is asked.
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
                // The fields may be others than when this was called.
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
