import Host
import Interfaces
import Synchronization
import Varlink

/// Moves what a subscriber has not been told yet to its call, no faster than the peer reads: while its
/// socket is full nothing is taken, and the bus keeps a cursor instead of a queue.
///
/// It takes in a turn of its connection, right before that is sent. So what is posted within one turn of
/// the loop is one batch and one write, however often the bus woke it.
///
/// Used on the event loop alone.
final class SubscriptionPump: Sendable {
    /// The most that one reply holds, in bytes: written out it fits into 256 KiB, and a buffer has the
    /// next power of two.
    private static let replyBytes = 240 << 10

    /// What the connection is told to run: made once, and not anew for each step.
    private struct Turn {
        let run: @Sendable () -> Void
    }

    private struct State {
        var id: SubscriptionID?
        var turn: Turn?
        /// A turn is to come, or a pull is under way: whoever ends that goes on.
        var isBusy = false
        /// The bus called meanwhile.
        var isWoken = false
        /// Whether it was sent something: the first reply names the store.
        var hasBegun = false
    }

    private let call: VarlinkCall<Notifications.Subscribe.Reply>
    private let context: ControlContext
    private let seesRestricted: Bool
    // A lock that is never contended: everything happens on the loop.
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

    /// Begins once there is a subscription.
    func start(_ id: SubscriptionID) {
        state.withLock { state in
            state.id = id
            state.turn = Turn { self.draw() }
        }
        call.onClose { self.close() }
        call.onHandOver { self.standing?.object }
        call.onReview { self.review() }
        wake()
    }

    /// Ends where it was told who did what, and may not be any more: to go on without saying so would
    /// look as if nobody did anything.
    private func review() {
        guard seesRestricted, let denial = context.denialOfRestricted(to: call.peer) else { return }
        call.fail(denial)
        close()
    }

    /// Sees to it that what there is will be sent.
    func wake() {
        let turn = state.withLock { state -> Turn? in
            state.isWoken = state.isBusy
            guard !state.isBusy, let turn = state.turn else { return nil }
            state.isBusy = true
            return turn
        }
        if let turn { call.onWritable(turn.run) }
    }

    /// Sends what is at hand, until there is no more of it or the socket is full.
    private func draw() {
        while let id = state.withLock({ $0.id }) {
            guard call.isWritable else { return pause() }
            switch bus.take(id, maxBytes: Self.replyBytes) {
            case .batch(let batch): send(batch)
            case .nothing: return rest()
            case .later: return readPast(id)
            }
        }
    }

    private func readPast(_ id: SubscriptionID) {
        bus.pull(id, maxBytes: Self.replyBytes) { self.take($0) }
    }

    private func take(_ result: Result<SharedBatch?, HostError>) {
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

    /// Sends the bytes that all subscribers of the batch share.
    private func send(_ batch: SharedBatch) {
        if let gap = batch.content.gap { context.missedLog.tell(gap, call.peer) }
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

    /// Goes on once the peer has read.
    private func pause() {
        if let turn = state.withLock({ $0.turn }) { call.onWritable(turn.run) }
    }

    /// Waits for the bus; what came meanwhile has set `isWoken`.
    private func rest() {
        let isWoken = state.withLock { state in
            state.isBusy = false
            return state.isWoken
        }
        if isWoken { wake() }
    }

    /// Where it would go on in another process; nil while the past is being read.
    private var standing: SubscriptionStanding? {
        state.withLock { $0.id }.flatMap { bus.standing(of: $0) }
    }

    private func close() {
        let id = state.withLock { state in
            // The turn holds the pump: they let go of each other here.
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
