internal import AtriumKit
internal import DequeModule

/// A notification in the ring, at its place.
struct PostedNotification {
    /// Its place, counted from 0 over everything that was ever posted on this bus.
    let position: UInt64
    /// Its sequence; for a transient one, that of the durable entry before it.
    ///
    /// It never decreases along the ring.
    let order: Int64
    fileprivate(set) var content: BusNotification
    /// About how many bytes it had when it was posted, including its comment's text.
    let cost: Int
    /// Whether it was erased: it keeps its place and is never delivered.
    fileprivate(set) var isGone = false

    var isTransient: Bool { content.sequence == nil }
}

/// The recent durable and transient notifications in one order, bounded by count and bytes.
struct NotificationRing {
    let maxCount: Int
    let maxBytes: Int

    /// Every durable notification after this sequence is in the ring.
    private(set) var base: Int64
    private(set) var bytes = 0
    private var content: Deque<PostedNotification> = []
    private var firstPosition: UInt64 = 0

    init(maxCount: Int, maxBytes: Int, base: Int64) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
        self.base = base
    }

    var count: Int { content.count }

    /// The place of the next notification to be posted.
    var end: UInt64 { firstPosition + UInt64(content.count) }

    /// The notification at a place; nil when the place is not in the ring.
    subscript(position: UInt64) -> PostedNotification? {
        guard position >= firstPosition, position < end else { return nil }
        return content[Int(position - firstPosition)]
    }

    mutating func append(
        _ notification: BusNotification, order: Int64, _ text: CommentText? = nil
    ) -> PostedNotification {
        let posted = PostedNotification(
            position: end, order: order, content: notification,
            cost: notification.cost(with: text))
        content.append(posted)
        bytes += posted.cost
        return posted
    }

    /// Erases the actor and restricted part of a notification; with `isGone` all of it, so it is never delivered.
    mutating func erase(_ position: UInt64, isGone: Bool) {
        guard position >= firstPosition, position < end else { return }
        let index = Int(position - firstPosition)
        content[index].isGone = content[index].isGone || isGone
        content[index].content.actor = nil
        content[index].content.restricted = nil
        if isGone { content[index].content.payload = [] }
    }

    /// Evicts and returns the oldest notification; nil when the ring is within its bounds.
    ///
    /// The newest is never evicted.
    mutating func evict() -> PostedNotification? {
        guard count > 1, count > maxCount || bytes > maxBytes else { return nil }
        let oldest = content.removeFirst()
        firstPosition += 1
        bytes -= oldest.cost
        base = max(base, oldest.order)
        return oldest
    }

    /// Returns the place after a cursor; nil when the ring has evicted notifications that follow the cursor.
    func position(after sequence: Int64) -> UInt64? {
        guard sequence >= base else { return nil }
        // The first element after the durable one with `sequence`; orders never decrease.
        var low = 0
        var high = content.count
        while low < high {
            let middle = (low + high) / 2
            let posted = content[middle]
            let isAfter =
                posted.order > sequence || (posted.order == sequence && posted.isTransient)
            if isAfter { high = middle } else { low = middle + 1 }
        }
        return firstPosition + UInt64(low)
    }
}
