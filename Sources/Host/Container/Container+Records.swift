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

    func restore(
        _ records: [RecordView], by caller: Caller, _ reply: @escaping Answer<RestoreResult>
    ) {
        let drafts: [RecordDraft]
        do throws(HostError) {
            if let error = refusal { throw error }
            try checkSize(of: records)
            let kinds = slots.compactMap { slot in slot.kind.map { (slot.name, $0) } }
            let reader = RecordReader(
                kinds: Dictionary(kinds) { first, _ in first }, container: name, checker: checker)
            drafts = try reader.read(records)
        } catch {
            return reply(.failure(error))
        }
        meters.count(.commands)
        RecordRestore(drafts, to: self, by: caller, reply).run()
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
