internal import DequeModule

/// The subscribers that get the same batches: the same topics, with the same rights.
///
/// Members that have caught up wait together at the end of the ring, and cost nothing until a notification matches.
/// The others are busy, each at its own place. While any member is busy, the batches that members got are kept, so
/// that a member that reaches the same place later gets the same batch.
final class SubscriptionGroup {
    /// The properties that the subscribers have in common.
    struct Key: Hashable {
        let patterns: Set<TopicPattern>
        let seesRestricted: Bool
    }

    let key: Key
    let patterns: [TopicPattern]

    private var waiting: [Subscription] = []
    private var busy: [Subscription] = []
    /// The kept batches by their places; they don't overlap.
    private var batches: Deque<SharedBatch> = []

    init(_ key: Key) {
        self.key = key
        patterns = Array(key.patterns)
    }

    /// How many notifications that don't match a member may examine during one pull.
    var freeLooks: Int { max(64, 4_096 / patterns.count) }
    var seesRestricted: Bool { key.seesRestricted }
    var isEmpty: Bool { waiting.isEmpty && busy.isEmpty }
    var hasWaiting: Bool { !waiting.isEmpty }

    func matches(_ topic: String) -> Bool {
        patterns.contains { $0.matches(topic) }
    }
}

// MARK: - Members

extension SubscriptionGroup {
    /// Adds a new member, which is busy.
    func add(_ subscription: Subscription) {
        append(subscription, to: &busy)
    }

    /// Removes a member; returns how many bytes of kept batches were freed.
    func remove(_ subscription: Subscription) -> Int {
        subscription.hasEnded = true
        removeFromList(subscription)
        return busy.isEmpty ? dropBatches() : 0
    }

    /// Makes a member that has received everything wait; returns how many bytes of kept batches were freed, because
    /// no member needs them any more.
    func wait(_ subscription: Subscription) -> Int {
        guard !subscription.isWaiting else { return 0 }
        removeFromList(subscription)
        subscription.isWaiting = true
        append(subscription, to: &waiting)
        return busy.isEmpty ? dropBatches() : 0
    }

    /// Makes a waiting member busy, since it pulls before it was woken; nothing before the ring's end matches.
    func stopWaiting(_ subscription: Subscription, end: UInt64) {
        guard subscription.isWaiting else { return }
        removeFromList(subscription)
        subscription.isWaiting = false
        subscription.skip(to: end)
        append(subscription, to: &busy)
    }

    /// Makes all waiting members busy, since the notification at a place is the first that matches, and appends them
    /// to those that the caller wakes.
    func markAllBusy(at position: UInt64, into woken: inout [Subscription]) {
        woken.append(contentsOf: waiting)
        for subscription in waiting {
            subscription.isWaiting = false
            subscription.skip(to: position)
            append(subscription, to: &busy)
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Accounts for a notification that the ring evicted; waiting members don't need it.
    func recordEviction(of posted: PostedNotification) {
        for subscription in busy { subscription.recordEviction(of: posted) }
    }

    private func append(_ subscription: Subscription, to list: inout [Subscription]) {
        subscription.place = list.count
        list.append(subscription)
    }

    /// Removes a member from its list; the last member of the list takes its index.
    private func removeFromList(_ subscription: Subscription) {
        let place = subscription.place
        if subscription.isWaiting {
            waiting.swapAt(place, waiting.count - 1)
            waiting[place].place = place
            waiting.removeLast()
        } else {
            busy.swapAt(place, busy.count - 1)
            busy[place].place = place
            busy.removeLast()
        }
    }
}

// MARK: - Batches

extension SubscriptionGroup {
    /// The kept batch for members that examine this place next; nil: none is kept.
    func batch(at position: UInt64) -> SharedBatch? {
        guard let batch = batchThatEnds(behind: position) else { return nil }
        return batch.start <= position && position <= batch.first ? batch : nil
    }

    /// The end of the kept batch around a place.
    ///
    /// A member whose own batch differs stops there, and shares batches again from there on.
    func batchEnd(after position: UInt64) -> UInt64? {
        batchThatEnds(behind: position)?.end
    }

    /// Keeps the batch that one member got for the others, if all groups together may keep as many more bytes.
    func keep(_ batch: SharedBatch, bytesLeft: inout Int) {
        guard waiting.count + busy.count > 1 else { return }
        if let last = batches.last, last.end > batch.first { return }
        while batch.cost > bytesLeft, let oldest = batches.popFirst() { bytesLeft += oldest.cost }
        guard batch.cost <= bytesLeft else { return }
        bytesLeft -= batch.cost
        batches.append(batch)
    }

    private func batchThatEnds(behind position: UInt64) -> SharedBatch? {
        // Most members are at the end of the ring.
        guard let last = batches.last, last.end > position else { return nil }
        if last.start <= position { return last }
        var low = 0
        var high = batches.count - 1
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].end > position { high = middle } else { low = middle + 1 }
        }
        return batches[low]
    }

    /// Frees the kept batches; returns how many bytes they had.
    func dropBatches() -> Int {
        let bytes = batches.reduce(0) { $0 + $1.cost }
        batches.removeAll(keepingCapacity: true)
        return bytes
    }
}
