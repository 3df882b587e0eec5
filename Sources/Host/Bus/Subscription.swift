/// One subscriber: a cursor, not a queue.
///
/// It is at a place in the ring, or behind it: then it has to read the store from its cursor on,
/// until it is back in the ring.
final class Subscription {
    let group: SubscriptionGroup
    let wake: @Sendable () -> Void
    /// Whose it is.
    let user: String

    /// The sequence through which it was told everything.
    var cursor: Int64
    /// The next place in the ring to look at; of no meaning while it is behind.
    private(set) var position: UInt64
    /// The place behind what it was told last: from there to its position nothing is for its group.
    private(set) var toldThrough: UInt64
    /// Whether what follows its cursor may have left the ring.
    private(set) var isBehind: Bool
    /// Whether it was told that there is nothing, and waits to be woken; the group's to change.
    var isWaiting = false
    /// Where the group finds it among those that wait, or those that do not.
    var place = 0
    /// Whether it was unsubscribed.
    var hasEnded = false
    /// The pull that waits for the store; a second one must not begin meanwhile.
    var isReading = false
    /// Whether it pulled while it was reading: it is woken afterwards.
    var wantsMore = false
    /// Whether it got its first batch, which comes even when it is empty.
    var hasBegun = false
    /// What is not kept any more, or is damaged, and it has not been told of.
    var trimmed: SubscriptionBatch.Gap?
    /// The transient notifications that passed while it was slow, and it has not been told of.
    var lost: SubscriptionBatch.Gap?

    /// The first place whose transient notifications are its own: it subscribed here.
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
        toldThrough = position
        start = position
        group.add(self)
    }

    /// Whether what comes next for it is the same as for others of its group at its place.
    var isInStep: Bool {
        !isBehind && position >= start && trimmed == nil && lost == nil
    }

    /// Whether a notification in the ring is to be told: its own, and not a transient one from
    /// before it subscribed.
    func wants(_ posted: PostedNotification) -> Bool {
        (!posted.isTransient || posted.position >= start) && !posted.isGone
            && group.matches(posted.content.topic)
    }

    /// Notes what just left the ring.
    func lose(_ posted: PostedNotification) {
        guard isBehind || position <= posted.position else { return }
        if wants(posted) {
            if posted.isTransient {
                keep(.init(from: posted.order, to: posted.order, reason: .transient))
            } else {
                isBehind = true
            }
        }
        if !isBehind { pass(posted) }
    }

    /// Goes beyond a place of the ring.
    func pass(_ posted: PostedNotification) {
        position = posted.position + 1
        cursor = max(cursor, posted.order)
    }

    /// Goes on to a place before which there is nothing for it.
    func skip(to position: UInt64) {
        self.position = max(self.position, position)
    }

    /// Was told all before its position.
    func noteCaughtUp() {
        noteTold()
        hasBegun = true
    }

    /// Was told what others were told too.
    func take(_ batch: SharedBatch) {
        position = batch.end
        cursor = max(cursor, batch.content.sequence)
        noteCaughtUp()
    }

    /// Is back in the ring.
    func join(at position: UInt64) {
        self.position = position
        noteTold()
        isBehind = false
    }

    private func noteTold() {
        // What lies before its start may be for others of its group.
        toldThrough = max(position, start)
    }

    /// The gap to be told next, which then counts as told: what was trimmed lies before the rest.
    func takeGap() -> SubscriptionBatch.Gap? {
        if let gap = trimmed {
            trimmed = nil
            return gap
        }
        defer { lost = nil }
        return lost
    }

    /// Keeps a gap that was taken and could not be told.
    func keep(_ gap: SubscriptionBatch.Gap?) {
        guard let gap else { return }
        switch gap.reason {
        case .trimmed, .damaged, .replaced: trimmed = gap.joined(trimmed)
        case .transient: lost = gap.joined(lost)
        }
    }
}

extension SubscriptionBatch.Gap {
    /// The gap from where either begins to where either ends.
    func joined(_ other: Self?) -> Self {
        guard let other else { return self }
        return Self(
            from: min(from, other.from), to: max(to, other.to),
            reason: other.reason == .replaced ? .replaced : reason)
    }
}
