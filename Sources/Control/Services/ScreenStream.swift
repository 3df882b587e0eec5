import Host
import Interfaces
import Varlink

/// Moves a screen's revisions to the call that opened it, no faster than the peer reads: while its
/// socket is full nothing is pulled, and all that happens meanwhile becomes one revision.
///
/// Unchecked: what changes is guarded by the event loop, on which alone it is touched.
final class ScreenStream: @unchecked Sendable {
    private let call: VarlinkCall<Screens.Open.Reply>
    private let registry: Registry
    /// Where another process left the call; nil: it is a new one.
    private let kept: KeptScreen?
    /// Why its user may not have the screen any more; nil: they may.
    private let obstacle: () -> ActorRefusal?
    private var reader: ScreenReader?
    /// A revision is being sent, or the socket is full: whoever ends that goes on.
    private var isBusy = false
    /// The screen called meanwhile.
    private var isWoken = false
    private var isClosed = false

    /// A stream of a screen that is yet to be opened.
    ///
    /// - Parameters:
    ///   - call: what opened it.
    ///   - registry: has the screen.
    ///   - kept: where another process left the call; nil: it is a new one.
    ///   - obstacle: why its user may not have the screen any more.
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

    /// Where it would go on in another process; nil while nothing has been sent.
    private var standing: KeptScreen? {
        guard let reader else { return kept }
        return registry.standing(of: reader)
    }

    /// Begins once the screen is open.
    func start(_ reader: ScreenReader) {
        self.reader = reader
        call.onClose { self.close() }
        call.onReview { self.review() }
        // The role may have gone while the screen was being opened.
        review()
        advance()
    }

    private func review() {
        guard !isClosed, let reader, let refusal = obstacle() else { return }
        isClosed = true
        call.fail(refusal.reply)
        registry.endScreen(reader)
    }

    /// Sends what there is: called when the screen has something new.
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
