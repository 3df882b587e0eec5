import Host
import Interfaces
import Synchronization
import Varlink

/// Sends a subscription's notifications to its call, no faster than the peer reads.
///
/// While the peer's socket is full nothing is taken, and the bus keeps a cursor instead of a queue.
///
/// It takes notifications in its connection's turn, just before the connection writes. So everything posted in one
/// turn of the event loop becomes one batch and one write, however often the bus woke the pump.
///
/// Used only on the event loop.
final class SubscriptionPump: Sendable {
    /// The most bytes of one reply.
    ///
    /// Encoded it fits into 256 KiB, and buffers grow to the next power of two.
    private static let replyBytes = 240 << 10

    /// The closure that the connection runs; created once, not for each step.
    private struct Turn {
        let run: @Sendable () -> Void
    }

    private struct State {
        var id: SubscriptionID?
        var turn: Turn?
        /// Whether a turn is scheduled or a pull is in progress; whichever ends will continue.
        var isBusy = false
        /// Whether the bus woke the pump meanwhile.
        var isWoken = false
        /// Whether a reply was sent: the first one has the store's identity.
        var hasBegun = false
    }

    private let call: VarlinkCall<Notifications.Subscribe.Reply>
    private let context: ControlContext
    private let seesRestricted: Bool
    // The lock is never contended, because everything happens on the event loop.
    private let state = Mutex(State())

    private var bus: Bus { context.registry.bus }

    init(
        call: VarlinkCall<Notifications.Subscribe.Reply>, seesRestricted: Bool,
        _ context: ControlContext
    ) {
        self.call = call
        self.seesRestricted = seesRestricted
        self.context = context
    }

    /// Starts once there is a subscription.
    func start(_ id: SubscriptionID) {
        state.withLock { state in
            state.id = id
            state.turn = Turn { self.draw() }
        }
        call.onClose { self.close() }
        call.onHandOver { self.subscriptionState?.object(in: self.context.registry.identity) }
        call.onReview { self.review() }
        wake()
    }

    /// Fails the call if its peer may no longer receive actors and restricted parts.
    ///
    /// Continuing without them would look as if no actor had caused the notifications.
    private func review() {
        guard seesRestricted, let denial = context.denialOfRestricted(to: call.peer) else { return }
        call.fail(denial)
        close()
    }

    /// Schedules a turn that sends the waiting notifications.
    func wake() {
        let turn = state.withLock { state -> Turn? in
            state.isWoken = state.isBusy
            guard !state.isBusy, let turn = state.turn else { return nil }
            state.isBusy = true
            return turn
        }
        if let turn { call.onWritable(turn.run) }
    }

    /// Sends the waiting notifications, until none is left or the socket is full.
    private func draw() {
        while let id = state.withLock({ $0.id }) {
            guard call.isWritable else { return pause() }
            switch bus.poll(id, maxBytes: Self.replyBytes) {
            case .batch(let batch): send(batch)
            case .nothing: return rest()
            case .later: return readPast(id)
            }
        }
    }

    private func readPast(_ id: SubscriptionID) {
        bus.pull(id, maxBytes: Self.replyBytes) { self.handle($0) }
    }

    private func handle(_ result: Result<SharedBatch?, HostError>) {
        switch result {
        case .success(let batch?):
            send(batch)
            draw()
        case .success(nil):
            rest()
        case .failure(let error):
            call.fail(error.reply(of: Notifications.self))
            close()
        }
    }

    /// Sends the bytes of a batch, which all of its subscribers share.
    private func send(_ batch: SharedBatch) {
        if let gap = batch.content.gap { context.missedLog.log(gap, call.peer) }
        let hasBegun = state.withLock { state in
            defer { state.hasBegun = true }
            return state.hasBegun
        }
        if hasBegun {
            call.replyRaw(batch.encoded { VarlinkCall.frame(Notifications.Subscribe.Reply($0)) })
        } else {
            var reply = Notifications.Subscribe.Reply(batch.content)
            reply.store = context.registry.identity
            call.replyContinues(reply)
        }
        ClientMeters.countDelivery(of: batch.content)
    }

    /// Continues once the peer has read.
    private func pause() {
        if let turn = state.withLock({ $0.turn }) { call.onWritable(turn.run) }
    }

    /// Waits for the bus; if it woke the pump meanwhile, `isWoken` is set.
    private func rest() {
        let isWoken = state.withLock { state in
            state.isBusy = false
            return state.isWoken
        }
        if isWoken { wake() }
    }

    /// The state for a handover; nil while past notifications are being read.
    private var subscriptionState: SubscriptionState? {
        state.withLock { $0.id }.flatMap { bus.state(of: $0) }
    }

    private func close() {
        let id = state.withLock { state in
            // Breaks the reference cycle between the turn and the pump.
            state.turn = nil
            defer { state.id = nil }
            return state.id
        }
        if let id { bus.unsubscribe(id) }
    }
}

extension Notifications.Subscribe.Reply {
    fileprivate init(_ batch: SubscriptionBatch) {
        self.init(
            notifications: batch.notifications.map(Interfaces.Notification.init),
            sequence: Int(batch.sequence), live: batch.live,
            gap: batch.gap.map {
                .init(
                    from: Int($0.from), to: Int($0.to),
                    reason: .init($0.reason))
            })
    }
}

extension Notifications.Subscribe.Reply.Gap.Reason {
    fileprivate init(_ reason: SubscriptionBatch.Gap.Reason) {
        self =
            switch reason {
            case .trimmed: .trimmed
            case .transient: .transient
            case .damaged: .damaged
            case .replaced: .replaced
            }
    }
}
