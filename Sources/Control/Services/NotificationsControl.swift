import Host
import Interfaces
import JSONCodec
import Varlink

/// `org.atrium.Notifications` over the bus.
struct NotificationsControl: NotificationsService {
    let context: ControlContext

    func subscribe(
        _ parameters: Notifications.Subscribe.Parameters,
        call: VarlinkCall<Notifications.Subscribe.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        let user = context.own(call.peer).actor
        let identity = context.registry.identity
        begin(call) { bus, seesRestricted, wake throws(HostError) in
            try bus.subscribe(
                patterns: parameters.topics, after: parameters.after.map(Int64.init),
                isOfOther: parameters.store.map { $0 != identity } ?? false,
                seesRestricted: seesRestricted, by: user, wake: wake)
        }
    }

    /// Continues a subscription that was handed over by another process of the daemon.
    func resume(_ state: JSONObject, call: VarlinkCall<Notifications.Subscribe.Reply>) {
        guard let subscription = SubscriptionState(state.value) else {
            return call.fail(VarlinkService.InvalidParameter(parameter: "topics"))
        }
        // A subscriber that has lost the right to restricted parts gets an error that says so.
        if subscription.seesRestricted, let denial = context.denialOfRestricted(to: call.peer) {
            return call.fail(denial)
        }
        let user = context.own(call.peer).actor
        let store = state.value["store"]?.string
        let isOfOther = store.map { $0 != context.registry.identity } ?? false
        begin(call) { bus, seesRestricted, wake throws(HostError) in
            try bus.resume(
                subscription, isOfOther: isOfOther, seesRestricted: seesRestricted, by: user,
                wake: wake
            )
        }
    }

    private typealias Begin =
        (
            _ bus: Bus, _ seesRestricted: Bool, _ wake: @escaping @Sendable () -> Void
        ) throws(HostError) -> SubscriptionID

    private func begin(
        _ call: VarlinkCall<Notifications.Subscribe.Reply>, _ subscribe: Begin
    ) {
        let seesRestricted = context.own(call.peer).isModerator
        let pump = SubscriptionPump(call: call, seesRestricted: seesRestricted, context)
        do throws(HostError) {
            pump.start(try subscribe(context.registry.bus, seesRestricted, { pump.wake() }))
        } catch {
            call.fail(error.reply(of: Notifications.self))
        }
    }

    func publish(
        _ parameters: Notifications.Publish.Parameters,
        call: VarlinkCall<Notifications.Publish.Reply>
    ) {
        guard let caller = context.admit(call, in: Notifications.self, as: parameters.actor)
        else { return }
        context.registry.publish(
            parameters.topic, payload: parameters.payload.bytes,
            durable: parameters.durable ?? false, by: caller
        ) { result in
            call.answer(result, in: Notifications.self) { .init(sequence: $0.map(Int.init)) }
        }
    }
}
