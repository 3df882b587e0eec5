import AtriumKit
import Store

// Notifications.
extension Registry {
    /// Subscribes to topics; see ``Bus/subscribe(patterns:after:isOfOther:seesRestricted:by:wake:)``.
    ///
    /// `store` is the identity of the store that `after` is of; nil (the default): this one's.
    /// - Throws: `topicInvalid` or `limitExceeded`.
    public func subscribe(
        patterns: [String], after: Int64?, store: String? = nil, seesRestricted: Bool,
        by user: String = "", wake: @escaping @Sendable () -> Void
    ) throws(HostError) -> SubscriptionID {
        try domain.bus.subscribe(
            patterns: patterns, after: after, isOfOther: store.map { $0 != identity } ?? false,
            seesRestricted: seesRestricted, by: user, wake: wake)
    }

    /// Goes on with a subscription of another process; see
    /// ``Bus/resume(_:seesRestricted:by:wake:)``.
    ///
    /// - Throws: `topicInvalid` or `limitExceeded`.
    public func resume(
        _ standing: SubscriptionStanding, seesRestricted: Bool, by user: String = "",
        wake: @escaping @Sendable () -> Void
    ) throws(HostError) -> SubscriptionID {
        try domain.bus.resume(standing, seesRestricted: seesRestricted, by: user, wake: wake)
    }

    /// Where a subscriber stands; see ``Bus/standing(of:)``.
    public func standing(of id: SubscriptionID) -> SubscriptionStanding? {
        domain.bus.standing(of: id)
    }

    /// Where a subscriber takes what is at hand.
    public func feed(of id: SubscriptionID) -> SubscriptionFeed {
        SubscriptionFeed(id: id, bus: domain.bus)
    }

    /// What a subscriber has not been told yet, also where the past must be read; nil: nothing, and
    /// it is woken once there is.
    public func pull(
        _ id: SubscriptionID, maxBytes: Int, _ reply: @escaping Reply<SharedBatch?>
    ) {
        domain.bus.pull(id, maxBytes: maxBytes, reply: reply)
    }

    /// Ends a subscription.
    public func unsubscribe(_ id: SubscriptionID) {
        domain.bus.unsubscribe(id)
    }

    /// Publishes under `<container>.app`.
    ///
    /// - Parameters:
    ///   - topic: its topic.
    ///   - payload: a JSON object's bytes, at most 256 KiB.
    ///   - durable: keeps it, with a sequence.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence, nil for a transient one; fails with `topicInvalid`,
    ///     `containerNotFound`, `limitExceeded` or `storeUnavailable`.
    public func publish(
        _ topic: String, payload: [UInt8], durable: Bool, by caller: Caller,
        _ reply: @escaping Reply<Int64?>
    ) {
        do throws(HostError) {
            try Topic.check(topic)
            guard let name = Topic.container(ofApp: topic).map(String.init) else {
                throw .topicInvalid(
                    topic: topic,
                    reason: "clients publish under <container>.app, as in films.app.played")
            }
            guard let container = containers[name] else { throw .containerNotFound(name) }
            let limit = domain.limits.payloadBytes
            guard payload.count <= limit else {
                throw .limitExceeded(limit: "payloadBytes", value: limit, retryAfter: nil)
            }
            container.publish(topic, payload, durable: durable, by: caller, reply)
        } catch {
            reply(.failure(error))
        }
    }
}

extension Container {
    /// Publishes what a client says under the container's name.
    fileprivate func publish(
        _ topic: String, _ payload: [UInt8], durable: Bool, by caller: Caller,
        _ reply: @escaping Reply<Int64?>
    ) {
        let actors = domain.actors
        let actor = domain.meet(caller.actor)
        guard durable else {
            actors.hear(actor, atMost: domain.bus.limits.ringCount)
            domain.bus.post(
                BusNotification(
                    time: domain.now(), topic: topic, actor: actor, payload: payload))
            return reply(.success(nil))
        }
        let time = domain.now()
        actors.hold(actor)
        append(
            changes: [], topic: topic, payload: payload, by: actor, at: time
        ) { [self] result in
            switch result {
            case .success(let commit):
                announce(topic, commit, time: time, actor: actor, payload: payload)
            case .failure: actors.release(actor)
            }
            reply(result.map(\.sequence))
        }
    }
}
