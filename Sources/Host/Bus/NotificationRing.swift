internal import AtriumKit
internal import DequeModule

/// A notification in the ring, at its place.
struct PostedNotification {
    /// Its place among all that were ever posted here, from 0.
    let position: UInt64
    /// Its sequence, or that of the durable one before a transient one; never decreases.
    let order: Int64
    fileprivate(set) var content: BusNotification
    /// About how many bytes it had as it was posted, with its comment's text.
    let cost: Int
    /// Whether it is told to nobody any more; its place stays.
    fileprivate(set) var isGone = false

    var isTransient: Bool { content.sequence == nil }
}

/// The recent notifications, durable and transient ones in one order, bounded by count and bytes.
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

    /// The place that the next notification gets.
    var end: UInt64 { firstPosition + UInt64(content.count) }

    /// The notification at a place that is in the ring.
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

    /// Makes a notification at a place nobody's; or has nobody told it.
    mutating func erase(_ position: UInt64, isGone: Bool) {
        guard position >= firstPosition, position < end else { return }
        let index = Int(position - firstPosition)
        content[index].isGone = content[index].isGone || isGone
        content[index].content.actor = nil
        content[index].content.restricted = nil
        if isGone { content[index].content.payload = [] }
    }

    /// Takes out the oldest notification; nil when there are no more than the bounds allow.
    ///
    /// The newest always stays.
    mutating func evict() -> PostedNotification? {
        guard count > 1, count > maxCount || bytes > maxBytes else { return nil }
        let oldest = content.removeFirst()
        firstPosition += 1
        bytes -= oldest.cost
        base = max(base, oldest.order)
        return oldest
    }

    /// The place where someone goes on who was told everything through a sequence; nil when a part
    /// of what follows has left the ring.
    func position(after sequence: Int64) -> UInt64? {
        guard sequence >= base else { return nil }
        // The first element that comes after durable `sequence`; orders never decrease.
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
