import Host
import Interfaces
import JSONCodec
import Varlink

/// `org.atrium.Notifications` over the registry's bus.
struct NotificationsControl: NotificationsService {
    let context: ControlContext

    func subscribe(
        _ parameters: Notifications.Subscribe.Parameters,
        call: VarlinkCall<Notifications.Subscribe.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        let seesRestricted = context.own(call.peer).isModerator
        let registry = context.registry
        let pump = Pump(call: call, source: SubscriptionSource(registry: registry))
        let opened = registry.assumeIsolated { registry in
            Result { () throws(HostError) in
                try registry.subscribe(
                    patterns: parameters.topics, after: parameters.after.map(Int64.init),
                    seesRestricted: seesRestricted, wake: { pump.advance() })
            }
        }
        switch opened {
        case .success(let id): pump.start(id)
        case .failure(let error): call.fail(error.reply(of: Notifications.self))
        }
    }

    func publish(
        _ parameters: Notifications.Publish.Parameters,
        call: VarlinkCall<Notifications.Publish.Reply>
    ) {
        context.write(call, as: parameters.actor) { registry, caller in
            registry.publish(
                parameters.topic, payload: parameters.payload.bytes,
                durable: parameters.durable ?? false, by: caller
            ) { result in
                call.settle(result, in: Notifications.self) {
                    .init(sequence: $0.map(Int.init))
                }
            }
        }
    }
}

/// A subscription as a ``PumpSource``.
private struct SubscriptionSource: PumpSource {
    /// The most that one reply holds, in bytes.
    private static let replyBytes = 256 << 10

    let registry: Registry

    func pull(
        _ id: SubscriptionID,
        _ reply: @escaping Host.Reply<Notifications.Subscribe.Reply?>
    ) {
        registry.assumeIsolated { registry in
            registry.pull(id, maxBytes: Self.replyBytes) { result in
                reply(result.map { $0.map(Notifications.Subscribe.Reply.init) })
            }
        }
    }

    func close(_ id: SubscriptionID) {
        registry.assumeIsolated { $0.unsubscribe(id) }
    }

    func error(_ error: HostError) -> VarlinkRemoteError { error.reply(of: Notifications.self) }
}

extension Notifications.Subscribe.Reply {
    fileprivate init(_ batch: SubscriptionBatch) {
        self.init(
            notifications: batch.notifications.map(Interfaces.Notification.init),
            sequence: Int(batch.sequence), live: batch.live,
            gap: batch.gap.map {
                .init(
                    from: Int($0.from), to: Int($0.to),
                    reason: $0.reason == .trimmed ? .trimmed : .transient)
            })
    }
}
