/// Which epochs of which containers are refused, and whether an entry may be written.
///
/// An entry was decided on the outcome of those before it in its lane. So once one is not written,
/// whatever the reason, all later ones of its epoch rest on something that did not happen.
struct Lanes {
    private var failed: [String: Int] = [:]

    /// Why the entry can't be written while its container stands at the position; nil if it can.
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

    /// Refuses from now on what is in the entry's epoch or an older one.
    mutating func fail(_ entry: Entry) {
        failed[entry.container] = max(failed[entry.container] ?? entry.epoch, entry.epoch)
    }
}
