internal import AtriumKit
internal import NIOCore

extension Bus {
    /// Returns a subscriber's next batch, as far as it can be made from memory.
    ///
    /// The first pull returns a batch even when it is empty. A later one returns `.nothing` when nothing is
    /// undelivered, or while the store is being read for the subscriber. It is woken once there is something, or
    /// once that read has finished.
    ///
    /// - Parameters:
    ///   - id: the subscription; one that has ended gets `.nothing`.
    ///   - maxBytes: about how many bytes the batch may have; one notification always fits.
    /// - Returns: a batch, or why there is none.
    public func poll(_ id: SubscriptionID, maxBytes: Int) -> PolledBatch {
        guard let subscription = subscriptions[id] else { return .nothing }
        guard !subscription.isReading else {
            subscription.wantsMore = true
            return .nothing
        }
        subscription.group.stopWaiting(subscription, end: ring.end)
        if subscription.isBehind {
            guard let position = ring.position(after: subscription.cursor) else { return .later }
            subscription.join(at: position)
        }
        if let batch = sharedBatch(for: subscription, maxBytes) { return .batch(batch) }
        return ownBatch(for: subscription, maxBytes, looks: subscription.group.freeLooks)
    }

    /// Returns a subscriber's next batch through `reply`, and reads the store for it where that is needed.
    ///
    /// - Parameters:
    ///   - id: the subscription.
    ///   - maxBytes: about how many bytes the batch may have; one notification always fits.
    ///   - reply: called during this call, or later when the store must be read or much of the ring scanned. It
    ///     receives nil where ``poll(_:maxBytes:)`` would return `.nothing`, and fails with
    ///     `HostError.storeUnavailable` when the store can't be read.
    public func pull(
        _ id: SubscriptionID, maxBytes: Int, reply: @escaping Reply<SharedBatch?>
    ) {
        switch poll(id, maxBytes: maxBytes) {
        case .batch(let batch): reply(.success(batch))
        case .nothing: reply(.success(nil))
        case .later:
            guard let subscription = subscriptions[id] else { return reply(.success(nil)) }
            guard subscription.isBehind else {
                return scan(for: subscription, id, maxBytes: maxBytes, reply)
            }
            let draft = BatchDraft(
                for: subscription, maxCount: limits.batchCount, maxBytes: maxBytes)
            read(for: draft, of: subscription, id, reply)
        }
    }

    /// The batch that another member of the group got from the same place, if it is kept and fits.
    private func sharedBatch(for subscription: Subscription, _ maxBytes: Int) -> SharedBatch? {
        guard subscription.isInStep,
            let batch = subscription.group.batch(at: subscription.position),
            batch.cost <= maxBytes || batch.content.notifications.count == 1
        else { return nil }
        subscription.advance(past: batch)
        return batch
    }

    /// Makes a batch of about `maxBytes` from the ring, and keeps it for members of the group that reach the same
    /// place; `.later` when `looks` notifications did not match, where the next scan continues.
    private func ownBatch(
        for subscription: Subscription, _ maxBytes: Int, looks: Int
    ) -> PolledBatch {
        let isInStep = subscription.isInStep
        let start = subscription.deliveredThrough
        var draft = BatchDraft(
            for: subscription, maxCount: limits.batchCount, maxBytes: maxBytes)
        let first = fill(&draft, of: subscription, looks: looks)
        if first == nil, subscription.position < ring.end {
            subscription.addGap(draft.gap)
            return .later
        }
        guard let content = finished(draft, of: subscription) else { return .nothing }
        guard isInStep, let first else { return .batch(SharedBatch(content)) }
        let batch = SharedBatch(
            content, start: start, first: first, end: subscription.position, cost: draft.bytes)
        subscription.group.keep(batch, bytesLeft: &sharedBytesLeft)
        return .batch(batch)
    }

    /// Scans the ring for a subscriber in its user's turn; each turn of the loop runs one scan.
    private func scan(
        for subscription: Subscription, _ id: SubscriptionID, maxBytes: Int,
        _ reply: @escaping Reply<SharedBatch?>
    ) {
        subscription.isReading = true
        let scan = { [unowned self] in
            subscription.isReading = false
            guard subscriptions[id] === subscription else { return reply(.success(nil)) }
            // The ring may have evicted what the subscriber needs while it waited for its turn.
            guard !subscription.isBehind else { return pull(id, maxBytes: maxBytes, reply: reply) }
            switch ownBatch(for: subscription, maxBytes, looks: .max) {
            case .batch(let batch): reply(.success(batch))
            case .nothing, .later: reply(.success(nil))
            }
            wakeIfPulled(subscription)
        }
        scans.append(scan, of: subscription.user)
        guard !isScanning else { return }
        isScanning = true
        scheduleScan()
    }

    private func scheduleScan() {
        let bound = NIOLoopBound(self, eventLoop: loop)
        // A scheduled task: with `execute`, the loop would run the next scan before it serves its sockets.
        loop.scheduleTask(in: .milliseconds(1)) {
            let bus = bound.value
            bus.scans.popFirst()?()
            bus.isScanning = !bus.scans.isEmpty
            if bus.isScanning { bus.scheduleScan() }
        }
    }

    /// Adds the ring's next matches to a batch, until it is full or `looks` notifications did not match; returns the
    /// place of the first one added.
    private func fill(
        _ draft: inout BatchDraft, of subscription: Subscription, looks: Int = .max
    ) -> UInt64? {
        var first: UInt64?
        var looks = looks
        let end = subscription.group.batchEnd(after: subscription.position) ?? ring.end
        while first == nil || subscription.position < end,
            let posted = ring[subscription.position]
        {
            if subscription.wants(posted) {
                guard draft.add(posted.content, text(of: posted.content), names: names) else {
                    break
                }
                first = first ?? posted.position
            } else {
                guard looks > 0 else { break }
                looks -= 1
            }
            subscription.advance(past: posted)
        }
        return first
    }

    private func finished(
        _ draft: BatchDraft, of subscription: Subscription
    ) -> SubscriptionBatch? {
        let isLive = !subscription.isBehind && subscription.position == ring.end
        if isLive { subscription.cursor = lastSequence }
        let isNothing = draft.notifications.isEmpty && draft.gap == nil && isLive
        if isNothing, subscription.hasBegun {
            sharedBytesLeft += subscription.group.wait(subscription)
            return nil
        }
        subscription.markCaughtUp()
        return SubscriptionBatch(
            notifications: draft.notifications, sequence: subscription.cursor,
            live: isLive && subscription.lost == nil, gap: draft.gap)
    }

    /// Reads the next part of the past from the store, and then fills the batch from the ring.
    private func read(
        for draft: BatchDraft, of subscription: Subscription, _ id: SubscriptionID,
        _ reply: @escaping Reply<SharedBatch?>
    ) {
        subscription.isReading = true
        let request = BacklogRequest(
            user: subscription.user, after: subscription.cursor, through: ring.base,
            patterns: subscription.group.patterns,
            limit: draft.maxCount, maxBytes: draft.maxBytes)
        let back = NIOLoopBound((bus: self, subscription), eventLoop: loop)
        let loop = loop
        backlog(request) { result in
            loop.execute {
                let (bus, subscription) = back.value
                subscription.isReading = false
                guard bus.subscriptions[id] === subscription else { return reply(.success(nil)) }
                bus.handle(result, request, into: draft, of: subscription, id, reply)
                bus.wakeIfPulled(subscription)
            }
        }
    }

    private func handle(
        _ result: Result<Backlog, HostError>, _ request: BacklogRequest, into draft: BatchDraft,
        of subscription: Subscription, _ id: SubscriptionID,
        _ reply: @escaping Reply<SharedBatch?>
    ) {
        switch result {
        case .failure(let error):
            // The batch is discarded, so its gap goes into the next one.
            subscription.addGap(draft.gap)
            reply(.failure(error))
        case .success(let backlog) where !isCurrent(backlog):
            read(for: draft, of: subscription, id, reply)
        case .success(let backlog):
            if !backlog.damage.isEmpty { foundDamage(backlog.damage) }
            var draft = draft
            let trimmedThrough = min(backlog.trimmedThrough, request.through)
            if trimmedThrough > request.after {
                // The trimmed range precedes everything else in the batch, so its gap is delivered first.
                subscription.addGap(draft.gap)
                subscription.addGap(
                    .init(from: request.after + 1, to: trimmedThrough, reason: .trimmed))
                draft.gap = subscription.takeGap()
            }
            if let damaged = backlog.damaged, damaged.upperBound > trimmedThrough {
                guard draft.gap == nil else {
                    // A batch holds one gap. The damaged range is read again for the next batch, which begins with it.
                    subscription.cursor = max(
                        subscription.cursor, damaged.lowerBound - 1, trimmedThrough)
                    let batch = finished(draft, of: subscription)
                    return reply(.success(batch.map { SharedBatch($0) }))
                }
                draft.gap = .init(
                    from: max(damaged.lowerBound, trimmedThrough + 1), to: damaged.upperBound,
                    reason: .damaged)
            }
            for notification in backlog.notifications {
                let past = notification.comment.flatMap { backlog.texts[$0] }
                draft.append(notification, text(of: notification, past: past), names: names)
            }
            subscription.cursor = min(backlog.through, request.through)
            resume(draft, of: subscription, id, reply)
        }
    }

    /// Whether no comment in a part of the past has changed since it was read, and nothing was erased.
    private func isCurrent(_ backlog: Backlog) -> Bool {
        guard backlog.asOf >= erasedThrough else { return false }
        return backlog.notifications.lazy.compactMap(\.comment).allSatisfy {
            texts.isCurrent($0, asOf: backlog.asOf)
        }
    }

    /// Continues after a read: from the ring, or from the store again where the ring has evicted what follows.
    private func resume(
        _ draft: BatchDraft, of subscription: Subscription, _ id: SubscriptionID,
        _ reply: @escaping Reply<SharedBatch?>
    ) {
        var draft = draft
        if let position = ring.position(after: subscription.cursor) {
            subscription.join(at: position)
            _ = fill(&draft, of: subscription)
        } else if draft.notifications.isEmpty {
            return read(for: draft, of: subscription, id, reply)
        }
        reply(.success(finished(draft, of: subscription).map { SharedBatch($0) }))
    }

    private func wakeIfPulled(_ subscription: Subscription) {
        guard subscription.wantsMore, !subscription.isReading else { return }
        subscription.wantsMore = false
        subscription.wake()
    }
}

/// The result of ``Bus/poll(_:maxBytes:)``.
public enum PolledBatch: Sendable {
    /// The undelivered notifications, or as many of them as fit.
    case batch(SharedBatch)
    /// Nothing is undelivered; the subscriber is woken once something is.
    case nothing
    /// The batch takes longer: the store must be read, or much of the ring scanned.
    ///
    /// Call ``Bus/pull(_:maxBytes:reply:)`` instead.
    case later
}

/// A batch that is being filled.
struct BatchDraft: Sendable {
    let maxCount: Int
    let maxBytes: Int
    var gap: SubscriptionBatch.Gap?
    private(set) var notifications: [NotificationView] = []
    private let seesRestricted: Bool
    private(set) var bytes = 0

    /// Makes an empty batch, which takes the subscriber's next undelivered gap.
    init(for subscription: Subscription, maxCount: Int, maxBytes: Int) {
        self.maxCount = max(1, maxCount)
        self.maxBytes = maxBytes
        seesRestricted = subscription.group.seesRestricted
        gap = subscription.takeGap()
    }

    /// Appends a notification with its comment's text, if it fits.
    mutating func add(
        _ notification: BusNotification, _ text: CommentText?, names: (ActorID) -> String?
    ) -> Bool {
        let fits =
            notifications.isEmpty
            || (notifications.count < maxCount && bytes + notification.cost(with: text) <= maxBytes)
        if fits { append(notification, text, names: names) }
        return fits
    }

    /// Appends a notification with its comment's text.
    mutating func append(
        _ notification: BusNotification, _ text: CommentText?, names: (ActorID) -> String?
    ) {
        bytes += notification.cost(with: text)
        notifications.append(
            notification.view(seesRestricted: seesRestricted, names: names, text: text))
    }
}
