internal import AtriumKit

/// Where a subscriber stands: what another process needs to go on with it.
public struct SubscriptionStanding: Sendable, Hashable {
    /// What its topics match.
    public var patterns: [String]
    /// The sequence through which it was told everything.
    public var after: Int64
    /// Whether it is told who did what.
    public var seesRestricted: Bool
    /// What it has not been told and can't be told any more.
    public var gaps: [SubscriptionBatch.Gap]

    /// A place to go on from.
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
    /// What subscribers have not been told yet that the next process could not tell them.
    struct Untold: Equatable {
        /// How many have not been told all that is at hand.
        var subscribers = 0
        /// Changes while these pull.
        var progress: UInt64 = 0
    }

    /// What subscribers have not been told yet; those that read the past go on with it elsewhere.
    var untold: Untold {
        subscriptions.values.reduce(into: Untold()) { untold, subscription in
            guard !subscription.isWaiting, !subscription.isBehind else { return }
            untold.subscribers += 1
            untold.progress &+= subscription.toldThrough
        }
    }

    /// Where a subscriber stands now; nil while the store is read for it, or when it has ended.
    ///
    /// Transient notifications that it has not been told are in a gap: nobody keeps them.
    public func standing(of id: SubscriptionID) -> SubscriptionStanding? {
        guard let subscription = subscriptions[id], !subscription.isReading else { return nil }
        var after = subscription.isWaiting ? lastSequence : subscription.cursor
        var lost = subscription.lost
        if !subscription.isWaiting {
            // Durable ones are told again from the store; what lies before the first is not for it.
            var isTold = !subscription.isBehind
            for posted in rest(of: subscription) {
                if !subscription.wants(posted) {
                    if isTold { after = max(after, posted.order) }
                } else if posted.isTransient {
                    let gap = SubscriptionBatch.Gap(
                        from: posted.order, to: posted.order, reason: .transient)
                    lost = gap.joined(lost)
                } else {
                    isTold = false
                }
            }
            if isTold { after = lastSequence }
        }
        return SubscriptionStanding(
            patterns: subscription.group.patterns.map(\.text).sorted(), after: after,
            seesRestricted: subscription.group.seesRestricted,
            gaps: [subscription.trimmed, lost].compactMap { $0 })
    }

    /// What the ring holds behind what a subscriber was told.
    private func rest(of subscription: Subscription) -> some Sequence<PostedNotification> {
        let start = ring.end - UInt64(ring.count)
        let place =
            subscription.isBehind
            ? ring.position(after: subscription.cursor) ?? start : subscription.position
        return (max(place, start)..<ring.end).lazy.compactMap { [ring] in ring[$0] }
    }

    /// Goes on with a subscription of another process: nothing is told until there is something.
    ///
    /// - Parameters:
    ///   - standing: where it stood.
    ///   - seesRestricted: as for a new one.
    ///   - user: as for a new one.
    ///   - wake: as for a new one.
    /// - Returns: the subscription's name.
    /// - Throws: as for a new one.
    public func resume(
        _ standing: SubscriptionStanding, seesRestricted: Bool, by user: String = "",
        wake: @escaping @Sendable () -> Void
    ) throws(HostError) -> SubscriptionID {
        let id = try subscribe(
            patterns: standing.patterns, after: standing.after, seesRestricted: seesRestricted,
            by: user, wake: wake)
        guard let subscription = subscriptions[id] else { return id }
        subscription.hasBegun = true
        for gap in standing.gaps { subscription.keep(gap) }
        return id
    }
}
