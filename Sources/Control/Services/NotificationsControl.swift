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

    func next(_ id: SubscriptionID) -> PumpStep<SharedBatch> {
        switch registry.assumeIsolated({ $0.take(id, maxBytes: Self.replyBytes) }) {
        case .batch(let batch): .step(batch)
        case .nothing: .nothing
        case .past: .later
        }
    }

    func pull(_ id: SubscriptionID, _ reply: @escaping Host.Reply<SharedBatch?>) {
        registry.assumeIsolated { $0.pull(id, maxBytes: Self.replyBytes, reply) }
    }

    /// Sends the bytes that all subscribers of the batch share.
    func send(_ batch: SharedBatch, to call: VarlinkCall<Notifications.Subscribe.Reply>) {
        call.replyRaw(batch.encoded { VarlinkCall.frame(Notifications.Subscribe.Reply($0)) })
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
