import Host
import Synchronization
import Varlink

/// Where a ``Pump`` draws from: one subscription or one screen of the registry.
protocol PumpSource: Sendable {
    associatedtype ID: Sendable
    associatedtype Reply: VarlinkCodable
    /// What is drawn at once; by default a reply.
    associatedtype Step: Sendable = Reply

    /// The next step, as far as it is at hand. Default: it must be pulled.
    func next(_ id: ID) -> PumpStep<Step>
    /// The next step, nil when there is none yet: the pump is then woken.
    func pull(_ id: ID, _ reply: @escaping Host.Reply<Step?>)
    /// Sends a step. Default: it is the reply.
    func send(_ step: Step, to call: VarlinkCall<Reply>)
    /// The peer is gone.
    func close(_ id: ID)
    /// The error that ends the stream.
    func error(_ error: HostError) -> VarlinkRemoteError
}

/// What a ``PumpSource`` has at hand.
enum PumpStep<Step: Sendable>: Sendable {
    /// Something to send.
    case step(Step)
    /// There is nothing yet: the pump is then woken.
    case nothing
    /// It takes a while to find out: it must be pulled.
    case later
}

extension PumpSource {
    func next(_ id: ID) -> PumpStep<Step> { .later }
}

extension PumpSource where Step == Reply {
    func send(_ step: Reply, to call: VarlinkCall<Reply>) { call.replyContinues(step) }
}

/// Moves what a source has to a call with `more`, no faster than the peer reads: while its socket is
/// full nothing is pulled, and the source keeps a cursor instead of a queue.
///
/// Used on the event loop alone.
final class Pump<Source: PumpSource>: Sendable {
    private struct State {
        var id: Source.ID?
        /// A pull is under way, or the socket is full: whoever ends that goes on.
        var isBusy = false
        /// The source called meanwhile.
        var isWoken = false
        var isClosed = false
    }

    private let call: VarlinkCall<Source.Reply>
    private let source: Source
    // A lock that is never contended: everything happens on the loop.
    private let state = Mutex(State())

    init(call: VarlinkCall<Source.Reply>, source: Source) {
        self.call = call
        self.source = source
    }

    /// Begins once the source is open.
    func start(_ id: Source.ID) {
        state.withLock { $0.id = id }
        call.onClose { self.close() }
        advance()
    }

    /// Sends what there is: called when the source has something new, and after each step.
    func advance() {
        let id = state.withLock { state -> Source.ID? in
            guard let id = state.id, !state.isClosed else { return nil }
            state.isWoken = state.isBusy
            guard !state.isBusy else { return nil }
            state.isBusy = true
            return id
        }
        guard let id else { return }
        guard call.isWritable else {
            return call.onWritable { self.goOn() }
        }
        switch source.next(id) {
        case .step(let step): take(.success(step))
        case .nothing: take(.success(nil))
        case .later: source.pull(id) { result in self.take(result) }
        }
    }

    private func take(_ result: Result<Source.Step?, HostError>) {
        switch result {
        case .success(let step?):
            source.send(step, to: call)
            goOn()
        case .success(nil):
            // What came during the pull has set `isWoken`; else the source wakes us.
            let again = state.withLock { state in
                state.isBusy = false
                return state.isWoken
            }
            if again { advance() }
        case .failure(let error):
            call.fail(source.error(error))
            close()
        }
    }

    private func goOn() {
        state.withLock { $0.isBusy = false }
        advance()
    }

    private func close() {
        let id = state.withLock { state -> Source.ID? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.id
        }
        if let id { source.close(id) }
    }
}
