import AtriumKit

/// A command or a ``Question`` that waits for a component, or for its answer.
class Request {
    /// Whether the component must be asked in its committed state: the request then waits until it is quiet.
    let needsQuiet: Bool
    /// Whether it belongs to the work that holds the component's gate, and may pass it.
    let passesGate: Bool
    /// Its place in the order of all requests and operations; set when it is asked.
    var number: UInt64 = 0
    /// How many workers of the component were lost while they handled it.
    var losses = 0
    /// The user whose call it is; empty for the host's own.
    var user = ""
    /// Its permit to wait for the component; nil if it does not wait or needs none.
    var permit: WaitPermits.Permit?
    /// The operation in the lane while the component decides.
    var operation: UInt64?
    /// The identity of the call once it was sent; nil if it can't be recognised again.
    var identity: CallIdentity? { nil }

    init(needsQuiet: Bool, passesGate: Bool) {
        self.needsQuiet = needsQuiet
        self.passesGate = passesGate
    }

    /// Whether it may change records.
    var isCommand: Bool { false }
    /// Whether it may be sent; false while its contents are being checked.
    ///
    /// It keeps its place in the queue, and those behind it wait.
    var isReady: Bool { true }
    /// Whether it waits in the queue of reads, apart from the commands.
    var isQuietRead: Bool { false }
    /// Whether a screen asks: a screen has one question at a time, so these are limited already.
    var isOfScreen: Bool { false }

    /// Sends it to the component of a slot.
    func send(to port: any ComponentPort, of slot: Slot) {}

    /// Ends it with an error, without the component's answer.
    func fail(_ error: HostError) {}
}

/// A question on its way to a component.
final class Question: Request {
    /// Makes the query at the moment it is sent; nil if there is nothing to ask any more.
    ///
    /// Called again if the component's worker is lost before it answers.
    let make: () -> ComponentQuery?
    /// Called with the answer, unless there was nothing to ask.
    let done: (Result<ComponentAnswer, HostError>) -> Void

    private let isAskedByScreen: Bool
    private let isAwaited: () -> Bool
    private var query: ComponentQuery?

    /// A question; it is dropped if `isAwaited` returns false when it is to be sent: nobody waits for the answer then.
    init(
        needsQuiet: Bool, passesGate: Bool = false, by user: String = "", isOfScreen: Bool = false,
        while isAwaited: @escaping () -> Bool = { true }, make: @escaping () -> ComponentQuery?,
        done: @escaping (Result<ComponentAnswer, HostError>) -> Void
    ) {
        self.make = make
        self.done = done
        self.isAwaited = isAwaited
        isAskedByScreen = isOfScreen
        super.init(needsQuiet: needsQuiet, passesGate: passesGate)
        self.user = user
    }

    override var isQuietRead: Bool { needsQuiet }
    override var isOfScreen: Bool { isAskedByScreen }
    override var identity: CallIdentity? { query.map { CallIdentity($0) } }

    override func send(to port: any ComponentPort, of slot: Slot) {
        guard isAwaited(), let query = make() else { return }
        self.query = query
        if let error = slot.requests.refusal(of: self, for: slot) { return fail(error) }
        slot.requests.sent(self, for: slot)
        port.answer(query) { [weak slot] result in
            guard let slot, slot.requests.arrived(self, result.failure, for: slot) else { return }
            self.done(result.mapError { HostError($0, of: slot) })
            if slot.requests.isIdle { slot.container?.runBarriers() }
        }
    }

    override func fail(_ error: HostError) { done(.failure(error)) }
}

extension HostError {
    /// The error of a question that the component of a slot did not answer.
    fileprivate init(_ failure: PortFailure, of slot: Slot) {
        switch failure {
        case .refused(let refusal):
            self.init(refusal, container: slot.containerName, component: slot.name)
        case .mistrusted(let reason): self = .mistrusted(reason, of: slot)
        case .died(let reason): self = slot.lost(reason)
        }
    }
}

extension HostError {
    /// The error of a call whose answer broke a rule.
    static func mistrusted(_ reason: String, of slot: Slot) -> HostError {
        slot.failure(
            "It answered wrongly, so nothing was changed, and it is being started again: try again.",
            details: reason)
    }
}

extension Result {
    /// The error; nil on success.
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
