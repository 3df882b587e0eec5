import Host
import Interfaces
import Synchronization
import Varlink

/// Moves a screen's revisions to the call that opened it, no faster than the peer reads: while its
/// socket is full nothing is pulled, and all that happens meanwhile becomes one revision.
///
/// Used on the event loop alone.
final class ScreenStream: Sendable {
    private struct State {
        var reader: ScreenReader?
        /// A revision is being sent, or the socket is full: whoever ends that goes on.
        var isBusy = false
        /// The screen called meanwhile.
        var isWoken = false
        var isClosed = false
    }

    private let call: VarlinkCall<Screens.Open.Reply>
    private let registry: Registry
    // A lock that is never contended: everything happens on the loop.
    private let state = Mutex(State())

    init(call: VarlinkCall<Screens.Open.Reply>, registry: Registry) {
        self.call = call
        self.registry = registry
    }

    /// Begins once the screen is open.
    func start(_ reader: ScreenReader) {
        state.withLock { $0.reader = reader }
        call.onClose { self.close() }
        advance()
    }

    /// Sends what there is: called when the screen has something new.
    func advance() {
        let isFree = state.withLock { state in
            guard state.reader != nil, !state.isClosed else { return false }
            state.isWoken = state.isBusy
            guard !state.isBusy else { return false }
            state.isBusy = true
            return true
        }
        if isFree { send() }
    }

    private func send() {
        while let reader = state.withLock({ $0.isClosed ? nil : $0.reader }) {
            guard call.isWritable else { return call.onWritable { self.send() } }
            var isDrained = false
            registry.assumeIsolated { registry in
                switch registry.pullScreen(reader) {
                case .success(let revision?): call.replyRaw(ScreenFrame.bytes(of: revision))
                case .success(nil): isDrained = true
                case .failure(let error):
                    call.fail(error.reply(of: Screens.self))
                    close()
                }
            }
            guard isDrained else { continue }
            // What came during the pull has set `isWoken`; else the screen wakes us.
            let again = state.withLock { state in
                defer { state.isWoken = false }
                if !state.isWoken { state.isBusy = false }
                return state.isWoken
            }
            if !again { return }
        }
    }

    private func close() {
        let reader = state.withLock { state -> ScreenReader? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.reader
        }
        if let reader { registry.assumeIsolated { $0.leaveScreen(reader) } }
    }
}
