import Store

/// One slice of the stored notifications, searched for those that a person's erasure changes.
struct PastSlice: Sendable {
    var part: ErasedPart
    /// The sequences of notifications that are to be deleted.
    var gone: [Int64] = []
    /// The sequences of the person's notifications, which are deleted or lose their actor.
    var changed: [Int64] = []
    /// The sequence after which the next slice begins; nil after the last slice.
    var last: Int64?

    init(part: ErasedPart) { self.part = part }

    mutating func read(after: Int64, limit: Int, from store: Store) throws(StoreError) {
        let past = try store.notifications(after: after, limit: limit)
        for notification in past.notifications {
            // A damaged notification could be anybody's, and subscribers don't get it anyway: it is deleted.
            guard !notification.isDamaged else {
                gone.append(notification.sequence)
                continue
            }
            switch part.verdict(on: BusNotification(raw: notification)) {
            case .kept: continue
            case .nobodys: break
            case .gone: gone.append(notification.sequence)
            }
            changed.append(notification.sequence)
        }
        last = past.through
    }
}
