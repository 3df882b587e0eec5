internal import AtriumKit
internal import Host
internal import NIOCore
internal import PluginLoader

// Results that the worker sends later, while other calls are answered.
extension WorkerPort {
    func ask(_ number: Int, _ question: ContentQuestion) {
        asked.add(number, question)
        calls.call(.ask(number, question))
    }

    func readImage(_ number: Int, of item: String, field: String) {
        images.insert(number)
        calls.call(.readImage(number, item: item, field: field))
    }

    /// Sends a source's answer to the owner, if its question is still open.
    func answered(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        guard let question = asked.take(number) else {
            guard asked.wasAsked(number) else {
                return fail("answered a question that it was not asked, and was killed")
            }
            return slowDown(pace.count(bytes: 0, at: .now()))
        }
        let (checked, problem) = check.checked(result.mapError(\.cut), to: question)
        if let problem { log(.warning, problem) }
        owner?.port(self, sent: .answers(number, checked))
    }

    /// The message about an answer that was too large to be sent; the worker keeps running.
    func tooLong(_ call: String, _ bytes: Int) -> String {
        "The component \(request.container)/\(request.component) (plugin \(request.plugin.id)) has "
            + "an answer of \(bytes) bytes to the call '\(call)', where \(Self.answerBytes) are "
            + "allowed: ask for less at a time, such as a shorter page."
    }

    /// Sends a picture that was requested to the owner.
    func read(_ number: Int, _ result: Result<ItemImage, Refusal>) {
        guard images.remove(number) != nil else {
            return fail("reported a picture that nobody asked for, and was killed")
        }
        owner?.port(self, sent: .image(number, result.mapError(\.cut)))
    }
}

// Calls without a result that anybody waits for.
extension WorkerPort {
    func undo(_ changes: [Change]) { calls.call(inParts: CallParts.undo(changes)) }

    func report(_ values: [String: [Value]], cut: Set<String>, _ done: @escaping () -> Void) {
        calls.call(inParts: CallParts.report(values, cut: cut)) { _ in done() }
    }

    func deliver(_ notification: AtriumKit.Notification) { calls.call(.deliver(notification)) }

    func reload() { calls.call(.reload) }

    func reportAudience(_ screens: Int) { calls.call(.audience(screens)) }

    /// Finds an item that the component requests.
    func item(_ id: String) -> Item? { owner?.port(self, itemWith: id) }

    func apply(_ settings: [String: Value], _ done: @escaping () -> Void) {
        let call = WorkerCall.take(settings)
        calls.call(call) { [weak self] answer in
            guard let self else { return }
            guard case .started(_, let fields, let preselection, let facts, let asks) = answer
            else {
                return fail("answered the call '\(call.name)' with something else, and was killed")
            }
            if let problem = check.problem(in: facts) {
                return fail("has other facts after '\(call.name)', and was killed: \(problem)")
            }
            setFacts(fields, preselection, facts, asks: asks)
            done()
        }
    }

    func notify(_ phase: LifecyclePhase) {
        // A program is stopped by the calls that follow.
        if case .willDetach = phase { process.findTree() }
        calls.call(.pass(phase))
    }
}

// What only a component in the daemon needs.
extension WorkerPort {
    var directLoad: (any DirectLoad)? { nil }

    /// Nil: events are checked as they are read from the worker.
    func problem(in events: [ComponentEvent]) -> String? { nil }
}
