internal import AtriumKit
internal import NIOCore

extension Bus {
    /// Asks for what a subscriber has not been told yet.
    ///
    /// The first pull is answered with a batch, even an empty one. A later one that finds nothing
    /// is answered with nil, and the subscriber is woken once there is something. While the store
    /// is read for a subscriber, another pull of it is answered with nil, and it is woken
    /// afterwards.
    ///
    /// - Parameters:
    ///   - id: the subscription; nil is answered for one that has ended.
    ///   - maxBytes: about how many bytes the batch may have; one notification always fits.
    ///   - reply: called during the call, or later where the past must be read; fails with
    ///     `HostError.storeUnavailable` where that can't be.
    public func pull(
        _ id: SubscriptionID, maxBytes: Int, reply: @escaping Reply<SubscriptionBatch?>
    ) {
        guard let subscription = subscriptions[id] else { return reply(.success(nil)) }
        guard !subscription.isReading else {
            subscription.wantsMore = true
            return reply(.success(nil))
        }
        subscription.isArmed = false
        let draft = BatchDraft(
            for: subscription, maxCount: limits.batchCount, maxBytes: maxBytes)
        fill(draft, of: subscription, id, reply)
    }

    private func fill(
        _ draft: BatchDraft, of subscription: Subscription, _ id: SubscriptionID,
        _ reply: @escaping Reply<SubscriptionBatch?>
    ) {
        var draft = draft
        if subscription.isBehind {
            guard let position = ring.position(after: subscription.cursor) else {
                if draft.notifications.isEmpty {
                    return read(for: draft, of: subscription, id, reply)
                }
                return reply(.success(finished(draft, of: subscription, isLive: false)))
            }
            subscription.join(at: position)
        }
        while let posted = ring[subscription.position] {
            if subscription.wants(posted) {
                guard draft.add(posted.content, names: names) else { break }
            }
            subscription.pass(posted)
        }
        let isLive = subscription.position == ring.end
        if isLive { subscription.cursor = lastSequence }
        reply(.success(finished(draft, of: subscription, isLive: isLive)))
    }

    private func finished(
        _ draft: BatchDraft, of subscription: Subscription, isLive: Bool
    ) -> SubscriptionBatch? {
        let isNothing = draft.notifications.isEmpty && draft.gap == nil && isLive
        if isNothing, subscription.hasBegun {
            subscription.isArmed = true
            return nil
        }
        subscription.hasBegun = true
        return SubscriptionBatch(
            notifications: draft.notifications, sequence: subscription.cursor,
            live: isLive && subscription.lost == nil, gap: draft.gap)
    }

    /// Reads the next part of the past, up to where the ring goes on, and then fills the batch.
    private func read(
        for draft: BatchDraft, of subscription: Subscription, _ id: SubscriptionID,
        _ reply: @escaping Reply<SubscriptionBatch?>
    ) {
        subscription.isReading = true
        let request = BacklogRequest(
            after: subscription.cursor, through: ring.base, patterns: subscription.patterns,
            limit: draft.maxCount, maxBytes: draft.maxBytes)
        let back = NIOLoopBound((bus: self, subscription), eventLoop: loop)
        let loop = loop
        backlog(request) { result in
            loop.execute {
                let (bus, subscription) = back.value
                subscription.isReading = false
                guard bus.subscriptions[id] === subscription else { return reply(.success(nil)) }
                bus.take(result, request, into: draft, of: subscription, id, reply)
                bus.wakeIfPulled(subscription)
            }
        }
    }

    private func take(
        _ result: Result<Backlog, HostError>, _ request: BacklogRequest, into draft: BatchDraft,
        of subscription: Subscription, _ id: SubscriptionID,
        _ reply: @escaping Reply<SubscriptionBatch?>
    ) {
        switch result {
        case .failure(let error):
            // The gap that the batch would have told is told by the next one.
            subscription.keep(draft.gap)
            reply(.failure(error))
        case .success(let backlog):
            var draft = draft
            let trimmedThrough = min(backlog.trimmedThrough, request.through)
            if trimmedThrough > request.after {
                // What was trimmed lies before everything else, so it is told first.
                subscription.keep(draft.gap)
                subscription.keep(
                    .init(from: request.after + 1, to: trimmedThrough, reason: .trimmed))
                draft.gap = subscription.takeGap()
            }
            for notification in backlog.notifications { draft.append(notification, names: names) }
            subscription.cursor = min(backlog.through, request.through)
            fill(draft, of: subscription, id, reply)
        }
    }

    private func wakeIfPulled(_ subscription: Subscription) {
        guard subscription.wantsMore, !subscription.isReading else { return }
        subscription.wantsMore = false
        subscription.wake()
    }
}

/// A batch while it is put together.
struct BatchDraft: Sendable {
    let maxCount: Int
    let maxBytes: Int
    var gap: SubscriptionBatch.Gap?
    private(set) var notifications: [NotificationView] = []
    private let seesRestricted: Bool
    private var bytes = 0

    /// An empty batch, with the gap that the subscriber has not been told of.
    init(for subscription: Subscription, maxCount: Int, maxBytes: Int) {
        self.maxCount = max(1, maxCount)
        self.maxBytes = maxBytes
        seesRestricted = subscription.seesRestricted
        gap = subscription.takeGap()
    }

    /// Appends a notification if it fits.
    mutating func add(_ notification: BusNotification, names: (ActorID) -> String?) -> Bool {
        let fits =
            notifications.isEmpty
            || (notifications.count < maxCount && bytes + notification.cost <= maxBytes)
        if fits { append(notification, names: names) }
        return fits
    }

    /// Appends a notification.
    mutating func append(_ notification: BusNotification, names: (ActorID) -> String?) {
        bytes += notification.cost
        notifications.append(notification.view(seesRestricted: seesRestricted, names: names))
    }
}
