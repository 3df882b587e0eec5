internal import DequeModule

/// The subscribers who see the same: the same topics, and of each notification the same part.
///
/// Those that keep up wait together, at the end of the ring, and cost nothing until something is
/// posted for them. The others are busy, each at its own place. What one of them is told is kept as
/// long as another is busy, so that those who come after it to the same place take the same batch.
final class SubscriptionGroup {
    /// What the subscribers have in common.
    struct Key: Hashable {
        let patterns: Set<TopicPattern>
        let seesRestricted: Bool
    }

    let key: Key
    let patterns: [TopicPattern]

    private var waiting: [Subscription] = []
    private var busy: [Subscription] = []
    /// In the order of their places; they do not overlap.
    private var batches: Deque<SharedBatch> = []

    init(_ key: Key) {
        self.key = key
        patterns = Array(key.patterns)
    }

    /// How many notifications that are not for it a member may look at whenever it pulls.
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
    /// Takes in a new member, which is busy.
    func add(_ subscription: Subscription) {
        append(subscription, to: &busy)
    }

    /// Lets a member go.
    ///
    /// - Returns: how many bytes were let go with it.
    func remove(_ subscription: Subscription) -> Int {
        subscription.hasEnded = true
        takeOut(subscription)
        return busy.isEmpty ? dropBatches() : 0
    }

    /// Lets a member wait that was told everything.
    ///
    /// - Returns: how many bytes were let go, because nobody needs them any more.
    func wait(_ subscription: Subscription) -> Int {
        guard !subscription.isWaiting else { return 0 }
        takeOut(subscription)
        subscription.isWaiting = true
        append(subscription, to: &waiting)
        return busy.isEmpty ? dropBatches() : 0
    }

    /// Makes a member busy that waits, and pulls before it is woken: nothing before the ring's end
    /// is for it.
    func stopWaiting(_ subscription: Subscription, end: UInt64) {
        guard subscription.isWaiting else { return }
        takeOut(subscription)
        subscription.isWaiting = false
        subscription.skip(to: end)
        append(subscription, to: &busy)
    }

    /// Makes all busy that wait, for there is something for them at a place.
    ///
    /// - Parameters:
    ///   - position: the first place since they wait that has something for them.
    ///   - roused: where to add those who are to be woken.
    func rouse(at position: UInt64, into roused: inout [Subscription]) {
        roused.append(contentsOf: waiting)
        for subscription in waiting {
            subscription.isWaiting = false
            subscription.skip(to: position)
            append(subscription, to: &busy)
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Notes what just left the ring; nothing for those who wait.
    func lose(_ posted: PostedNotification) {
        for subscription in busy { subscription.lose(posted) }
    }

    private func append(_ subscription: Subscription, to list: inout [Subscription]) {
        subscription.place = list.count
        list.append(subscription)
    }

    /// Fills the place of a member with the last one of its list.
    private func takeOut(_ subscription: Subscription) {
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
    /// The batch for those whose next place to look at is this one.
    func batch(at position: UInt64) -> SharedBatch? {
        guard let batch = batchThatEnds(behind: position) else { return nil }
        return batch.start <= position && position <= batch.first ? batch : nil
    }

    /// Where a member stops whose next batch is its own: there it is in step with others again.
    func meetingPlace(after position: UInt64) -> UInt64? {
        batchThatEnds(behind: position)?.end
    }

    /// Keeps a batch for the other members, if there is room.
    ///
    /// - Parameters:
    ///   - batch: what one member was told.
    ///   - bytesLeft: how many bytes all groups may still keep.
    func keep(_ batch: SharedBatch, bytesLeft: inout Int) {
        guard waiting.count + busy.count > 1 else { return }
        if let last = batches.last, last.end > batch.first { return }
        while batch.cost > bytesLeft, let oldest = batches.popFirst() { bytesLeft += oldest.cost }
        guard batch.cost <= bytesLeft else { return }
        bytesLeft -= batch.cost
        batches.append(batch)
    }

    private func batchThatEnds(behind position: UInt64) -> SharedBatch? {
        // Most members are at the end.
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

    /// Lets go of the batches that members share.
    ///
    /// - Returns: how many bytes they had.
    func dropBatches() -> Int {
        let bytes = batches.reduce(0) { $0 + $1.cost }
        batches.removeAll(keepingCapacity: true)
        return bytes
    }
}
