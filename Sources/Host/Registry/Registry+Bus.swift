import AtriumKit
import Store

// Publishing and subscribing.
extension Registry {
    /// The bus, where clients subscribe to notifications.
    public var bus: Bus { domain.bus }

    /// Publishes a notification on behalf of a client, under the topic `<container>.app`.
    ///
    /// - Parameters:
    ///   - topic: the notification's topic.
    ///   - payload: a JSON object's bytes, at most 256 KiB.
    ///   - durable: whether the notification is stored, and gets a sequence.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence, nil for a transient one; fails with `topicInvalid`,
    ///     `containerNotFound`, `limitExceeded` or `storeUnavailable`.
    public func publish(
        _ topic: String, payload: [UInt8], durable: Bool, by caller: Caller,
        _ reply: @escaping Reply<Int64?>
    ) {
        do throws(HostError) {
            try Topic.check(topic)
            guard let name = Topic.container(ofApp: topic) else {
                throw .topicInvalid(
                    topic: topic,
                    reason: "clients publish under <container>.app, as in films.app.played")
            }
            let limit = domain.limits.payloadBytes
            guard payload.count <= limit else {
                throw .limitExceeded(limit: "payloadBytes", value: limit, retryAfter: nil)
            }
            // Publishing needs no component, so it does not wait until the container's components are started.
            if let container = containers[name] {
                return container.publish(topic, payload, durable: durable, by: caller, reply)
            }
            with(name, of: caller.user, reply) {
                $0.publish(topic, payload, durable: durable, by: caller, reply)
            }
        } catch {
            reply(.failure(error))
        }
    }
}

extension Container {
    /// Posts a client's notification, and commits it first if it is durable.
    fileprivate func publish(
        _ topic: String, _ payload: [UInt8], durable: Bool, by caller: Caller,
        _ reply: @escaping Reply<Int64?>
    ) {
        let actors = domain.actors
        let actor = domain.intern(caller.actor)
        guard durable else {
            actors.retainRecent(actor, atMost: domain.bus.limits.ringCount)
            domain.bus.post(
                BusNotification(
                    time: domain.now(), topic: topic, actor: actor, payload: payload))
            return reply(.success(nil))
        }
        let time = domain.now()
        actors.retain(actor)
        lane.append(
            changes: [], topic: topic, payload: payload, by: actor, at: time
        ) { [self] result in
            switch result {
            case .success(let commit):
                delivery.announce(topic, commit, time: time, actor: actor, payload: payload)
            case .failure: actors.release(actor)
            }
            reply(result.map(\.sequence))
        }
    }
}
