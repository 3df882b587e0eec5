import Store

/// What becomes of a part of the past as somebody's part in it is erased.
struct PastSlice: Sendable {
    var part: ErasedPart
    /// The notifications that go.
    var gone: [Int64] = []
    /// How many go or become nobody's.
    var count = 0
    /// Where the next one begins; nil: there is none.
    var last: Int64?

    init(part: ErasedPart) { self.part = part }

    mutating func read(after: Int64, limit: Int, from store: Store) throws(StoreError) {
        let (stored, through) = try store.notifications(after: after, limit: limit)
        for notification in stored {
            // Nobody can know whose it is, and no subscriber gets it.
            guard !notification.isDamaged else {
                gone.append(notification.sequence)
                continue
            }
            switch part.verdict(on: BusNotification(raw: notification)) {
            case .kept: continue
            case .nobodys: break
            case .gone: gone.append(notification.sequence)
            }
            count += 1
        }
        last = through
    }
}
