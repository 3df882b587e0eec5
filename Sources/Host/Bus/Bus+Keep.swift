/// The state of a subscription that another process needs to resume it.
public struct SubscriptionState: Sendable, Hashable {
    /// The patterns of its topics.
    public var patterns: [String]
    /// Its cursor: the sequence through which everything was delivered.
    public var after: Int64
    /// Whether it gets the restricted parts of notifications, and their actors.
    public var seesRestricted: Bool
    /// The gaps that have not been delivered yet.
    public var gaps: [SubscriptionBatch.Gap]

    /// Makes the state to resume a subscription from.
    public init(
        patterns: [String], after: Int64, seesRestricted: Bool = false,
        gaps: [SubscriptionBatch.Gap] = []
    ) {
        self.patterns = patterns
        self.after = after
        self.seesRestricted = seesRestricted
        self.gaps = gaps
    }
}

extension Bus {
    /// How much is undelivered that the next process could not deliver, since it is in memory only.
    struct Undelivered: Equatable {
        /// How many subscribers have not received everything in the ring.
        var subscribers = 0
        /// The sum of their `deliveredThrough`, which changes whenever one of them receives a batch.
        var progress: UInt64 = 0
    }

    /// The subscribers with undelivered notifications in the ring.
    ///
    /// Subscribers that read the store are not counted, since the next process can read it for them.
    var undelivered: Undelivered {
        subscriptions.values.reduce(into: Undelivered()) { undelivered, subscription in
            guard !subscription.isWaiting, !subscription.isBehind else { return }
            undelivered.subscribers += 1
            undelivered.progress &+= subscription.deliveredThrough
        }
    }

    /// Returns a subscription's state; nil while the store is read for it, or when it has ended.
    ///
    /// Undelivered transient notifications become a gap, since no store keeps them.
    public func state(of id: SubscriptionID) -> SubscriptionState? {
        guard let subscription = subscriptions[id], !subscription.isReading else { return nil }
        var after = subscription.isWaiting ? lastSequence : subscription.cursor
        var lost = subscription.lost
        if !subscription.isWaiting {
            // The next process delivers durable ones from the store. The cursor may move up to the first of these.
            var isDelivered = !subscription.isBehind
            for posted in rest(of: subscription) {
                if !subscription.wants(posted) {
                    if isDelivered { after = max(after, posted.order) }
                } else if posted.isTransient {
                    let gap = SubscriptionBatch.Gap(
                        from: posted.order, to: posted.order, reason: .transient)
                    lost = gap.joined(lost)
                } else {
                    isDelivered = false
                }
            }
            if isDelivered { after = lastSequence }
        }
        return SubscriptionState(
            patterns: subscription.group.patterns.map(\.text).sorted(), after: after,
            seesRestricted: subscription.group.seesRestricted,
            gaps: [subscription.trimmed, lost].compactMap { $0 })
    }

    /// The ring's notifications that have not been delivered to a subscriber.
    private func rest(of subscription: Subscription) -> some Sequence<PostedNotification> {
        let start = ring.end - UInt64(ring.count)
        let place =
            subscription.isBehind
            ? ring.position(after: subscription.cursor) ?? start : subscription.position
        return (max(place, start)..<ring.end).lazy.compactMap { [ring] in ring[$0] }
    }

    /// Resumes a subscription from another process; a pull returns no batch until there is something to deliver.
    ///
    /// The parameters and errors are those of ``subscribe(patterns:after:isOfOther:seesRestricted:by:wake:)``.
    public func resume(
        _ state: SubscriptionState, isOfOther: Bool = false, seesRestricted: Bool,
        by user: String = "", wake: @escaping @Sendable () -> Void
    ) throws(HostError) -> SubscriptionID {
        let id = try subscribe(
            patterns: state.patterns, after: state.after, isOfOther: isOfOther,
            seesRestricted: seesRestricted, by: user, wake: wake)
        guard let subscription = subscriptions[id] else { return id }
        subscription.hasBegun = true
        for gap in state.gaps { subscription.addGap(gap) }
        return id
    }
}
