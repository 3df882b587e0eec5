/// One subscriber: a cursor, not a queue.
///
/// It has a place in the ring, or is behind the ring: then it reads the store from its cursor on, until it has
/// reached the ring.
final class Subscription {
    let group: SubscriptionGroup
    let wake: @Sendable () -> Void
    /// The user who owns it.
    let user: String

    /// The sequence through which everything was delivered.
    var cursor: Int64
    /// The next place in the ring to examine; meaningless while it is behind.
    private(set) var position: UInt64
    /// The place after the last delivery; from there to `position` nothing matched its group.
    private(set) var deliveredThrough: UInt64
    /// Whether the ring may have evicted what follows its cursor.
    private(set) var isBehind: Bool
    /// Whether its last pull found nothing, so that it is woken; set by its group only.
    var isWaiting = false
    /// Its index in the group's list of waiting or of busy members.
    var place = 0
    /// Whether it was unsubscribed.
    var hasEnded = false
    /// Whether a pull waits for the store or for a scan; a second pull must not begin meanwhile.
    var isReading = false
    /// Whether it pulled again during that wait; it is woken afterwards.
    var wantsMore = false
    /// Whether it got its first batch, which is returned even when it is empty.
    var hasBegun = false
    /// The trimmed or damaged range, or that of another store, which is to be delivered as a gap.
    var trimmed: SubscriptionBatch.Gap?
    /// The range of evicted transient notifications that is to be delivered as a gap.
    var lost: SubscriptionBatch.Gap?

    /// The place where it subscribed; earlier transient notifications are not delivered to it.
    private let start: UInt64

    init(
        of group: SubscriptionGroup, by user: String, cursor: Int64, position: UInt64,
        isBehind: Bool, wake: @escaping @Sendable () -> Void
    ) {
        self.group = group
        self.user = user
        self.wake = wake
        self.cursor = cursor
        self.position = position
        self.isBehind = isBehind
        deliveredThrough = position
        start = position
        group.add(self)
    }

    /// Whether its next batch is the same as that of other members of its group at its place.
    var isInStep: Bool {
        !isBehind && position >= start && trimmed == nil && lost == nil
    }

    /// Whether a notification is to be delivered to it: it matches, was not erased, and is not a transient one that
    /// was posted before it subscribed.
    func wants(_ posted: PostedNotification) -> Bool {
        (!posted.isTransient || posted.position >= start) && !posted.isGone
            && group.matches(posted.content.topic)
    }

    /// Accounts for a notification that the ring evicted.
    func recordEviction(of posted: PostedNotification) {
        guard isBehind || position <= posted.position else { return }
        if wants(posted) {
            if posted.isTransient {
                addGap(.init(from: posted.order, to: posted.order, reason: .transient))
            } else {
                isBehind = true
            }
        }
        if !isBehind { advance(past: posted) }
    }

    /// Moves past a notification.
    func advance(past posted: PostedNotification) {
        position = posted.position + 1
        cursor = max(cursor, posted.order)
    }

    /// Moves forward to a place before which nothing matches.
    func skip(to position: UInt64) {
        self.position = max(self.position, position)
    }

    /// Records that everything before its place was delivered.
    func markCaughtUp() {
        markDelivered()
        hasBegun = true
    }

    /// Moves past a batch of the group, which was delivered.
    func advance(past batch: SharedBatch) {
        position = batch.end
        cursor = max(cursor, batch.content.sequence)
        markCaughtUp()
    }

    /// Moves from the store to a place in the ring.
    func join(at position: UInt64) {
        self.position = position
        markDelivered()
        isBehind = false
    }

    private func markDelivered() {
        // Notifications before `start` may match other members of its group.
        deliveredThrough = max(position, start)
    }

    /// Returns the next gap and marks it as delivered; a trimmed range precedes transient ones.
    func takeGap() -> SubscriptionBatch.Gap? {
        if let gap = trimmed {
            trimmed = nil
            return gap
        }
        defer { lost = nil }
        return lost
    }

    /// Puts back a gap that was taken but not delivered, or adds a new one.
    func addGap(_ gap: SubscriptionBatch.Gap?) {
        guard let gap else { return }
        switch gap.reason {
        case .trimmed, .damaged, .replaced: trimmed = gap.joined(trimmed)
        case .transient: lost = gap.joined(lost)
        }
    }
}

extension SubscriptionBatch.Gap {
    /// Returns the smallest gap that covers both.
    func joined(_ other: Self?) -> Self {
        guard let other else { return self }
        return Self(
            from: min(from, other.from), to: max(to, other.to),
            reason: other.reason == .replaced ? .replaced : reason)
    }
}
