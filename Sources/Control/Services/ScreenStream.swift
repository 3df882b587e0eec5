import Host
import Interfaces
import Varlink

/// Sends a screen's revisions to the call that opened it, no faster than the peer reads.
///
/// While the peer's socket is full nothing is pulled, and all changes meanwhile become one revision.
///
/// Unchecked Sendable: its state is used only on the event loop.
final class ScreenStream: @unchecked Sendable {
    private let call: VarlinkCall<Screens.Open.Reply>
    private let registry: Registry
    /// The screen as another process handed it over; nil: it is a new one.
    private let kept: KeptScreen?
    /// Why its user may no longer have the screen; nil: the user may.
    private let obstacle: () -> ActorRefusal?
    private var reader: ScreenReader?
    /// Whether a revision is being sent, or the socket is full; whichever ends will continue the stream.
    private var isBusy = false
    /// Whether the screen had something new meanwhile.
    private var isWoken = false
    private var isClosed = false

    /// Creates a stream for a screen that is not open yet.
    ///
    /// - Parameters:
    ///   - call: the call that opened it.
    ///   - registry: the registry with the screen.
    ///   - kept: the screen as another process handed it over; nil: it is a new one.
    ///   - obstacle: returns why its user may no longer have the screen.
    init(
        call: VarlinkCall<Screens.Open.Reply>, registry: Registry, from kept: KeptScreen?,
        obstacle: @escaping () -> ActorRefusal?
    ) {
        self.call = call
        self.registry = registry
        self.kept = kept
        self.obstacle = obstacle
        call.onHandOver { self.standing?.object }
    }

    /// The state for a handover; nil while nothing has been sent.
    private var standing: KeptScreen? {
        guard let reader else { return kept }
        return registry.standing(of: reader)
    }

    /// Starts once the screen is open.
    func start(_ reader: ScreenReader) {
        self.reader = reader
        call.onClose { self.close() }
        call.onReview { self.review() }
        // The user may have lost the role while the screen was being opened.
        review()
        advance()
    }

    private func review() {
        guard !isClosed, let reader, let refusal = obstacle() else { return }
        isClosed = true
        call.fail(refusal.reply)
        registry.endScreen(reader)
    }

    /// Sends what there is; called when the screen has something new.
    func advance() {
        isWoken = true
        guard !isBusy else { return }
        isBusy = true
        send()
    }

    private func send() {
        while isWoken, !isClosed, let reader {
            guard call.isWritable else { return call.onWritable { self.send() } }
            isWoken = false
            switch registry.pullScreen(reader) {
            case .success(let revision?):
                call.replyRaw(endingWith: ScreenFrame.tail(of: revision)) {
                    ScreenFrame.writeHead(of: revision, to: &$0)
                }
                ClientMeters.countRevision()
            case .success(nil): break
            case .failure(let error):
                call.fail(error.reply(of: Screens.self))
                close()
            }
        }
        isBusy = false
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        if let reader { registry.leaveScreen(reader) }
    }
}
