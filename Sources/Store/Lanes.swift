/// Which epochs of which containers are refused.
///
/// An entry's decision depends on the entries before it in its lane. So once one entry is not written, for any
/// reason, all later ones of its epoch depend on something that did not happen.
struct Lanes {
    private var failed: [String: Int] = [:]

    /// Why an entry can't be written at a position of its container; nil: it can.
    func refusal(of appended: Inbox.Appended, at position: Int64) -> EntryFailure? {
        let entry = appended.entry
        if let epoch = failed[entry.container], entry.epoch <= epoch {
            return .olderEpoch(epoch: epoch)
        }
        if let expected = entry.expectedPosition, expected != position {
            return .stale(position: position)
        }
        if appended.size > Entry.mostBytes { return .tooLarge(bytes: appended.size) }
        return nil
    }

    /// Refuses entries of the entry's epoch and older ones from now on.
    mutating func fail(_ entry: Entry) {
        failed[entry.container] = max(failed[entry.container] ?? entry.epoch, entry.epoch)
    }
}
