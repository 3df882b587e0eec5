import AtriumKit
import Store

/// What waits for a component, or for its answer: a command or a ``Question``.
class Request {
    /// Whether only the committed state may decide or answer, so that it waits until the component is
    /// quiet.
    let needsQuiet: Bool
    /// Whether it is part of work that holds the component's gate, and passes through it.
    let passesGate: Bool
    /// Its place in the order of all requests and operations; the slot gives it.
    var number: UInt64 = 0
    /// How often the component's worker was lost while it was at this.
    var losses = 0
    /// Whose call it is; empty: the host's own.
    var user = ""
    /// Its place among the calls that wait for the component; nil: it does not wait, or needs none.
    var place: WaitingPlaces.Place?
    /// The operation in the lane, while the component decides.
    var operation: UInt64?
    /// What it asks, once it was sent; nil: it is nothing that may be known again.
    var identity: CallIdentity? { nil }

    init(needsQuiet: Bool, passesGate: Bool) {
        self.needsQuiet = needsQuiet
        self.passesGate = passesGate
    }

    /// Whether it may change records.
    var isCommand: Bool { false }
    /// Whether it may be sent: what is still being looked over keeps its place in the queue, and all behind it.
    var isReady: Bool { true }
    /// Ends at once what is still being looked over.
    func makeReady() {}
    /// Whether it waits beside the commands.
    var isQuietRead: Bool { false }
    /// Whether a screen asks, which asks one at a time: how many there are is limited already.
    var isOfScreen: Bool { false }

    /// Asks the component of a slot, whose turn it is.
    func send(to port: any ComponentPort, of slot: Slot) {}

    /// Ends it without the component's answer.
    func fail(_ error: HostError) {}
}

/// A question on its way to a component.
final class Question: Request {
    /// Makes the question at the moment at which it is asked; nil: there is nothing to ask any more.
    ///
    /// Called again when the component's worker was lost before it answered.
    let make: () -> ComponentQuery?
    /// The answer; not called when there was nothing to ask.
    let done: (Result<ComponentAnswer, HostError>) -> Void

    private let isAskedByScreen: Bool
    private var query: ComponentQuery?

    init(
        needsQuiet: Bool, passesGate: Bool = false, by user: String = "", isOfScreen: Bool = false,
        make: @escaping () -> ComponentQuery?,
        done: @escaping (Result<ComponentAnswer, HostError>) -> Void
    ) {
        self.make = make
        self.done = done
        isAskedByScreen = isOfScreen
        super.init(needsQuiet: needsQuiet, passesGate: passesGate)
        self.user = user
    }

    override var isQuietRead: Bool { needsQuiet }
    override var isOfScreen: Bool { isAskedByScreen }
    override var identity: CallIdentity? { query.map { CallIdentity($0) } }

    override func send(to port: any ComponentPort, of slot: Slot) {
        guard let query = make() else { return }
        self.query = query
        if let error = slot.poisonRefusal(of: self) { return fail(error) }
        slot.sent(self)
        port.answer(query) { [weak slot] result in
            guard let slot, slot.arrived(self, result.failure) else { return }
            self.done(result.mapError { slot.error($0) })
            if slot.isIdle { slot.container?.passBarriers() }
        }
    }

    override func fail(_ error: HostError) { done(.failure(error)) }
}
