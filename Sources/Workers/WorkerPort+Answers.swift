internal import AtriumKit
internal import Host
internal import NIOCore
internal import PluginLoader

// What the worker answers when it is ready, while other calls are answered.
extension WorkerPort {
    func ask(_ number: Int, _ question: ContentQuestion) {
        asked.add(number, question)
        call(.ask(number, question))
    }

    func readImage(_ number: Int, of item: String, field: String) {
        images.insert(number)
        call(.readImage(number, item: item, field: field))
    }

    /// Tells what it answers to a question that is open.
    func answered(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        guard let question = asked.take(number) else {
            guard asked.wasAsked(number) else {
                return fail("answered a question that it was not asked, and was killed")
            }
            return slowDown(pace.publishes(bytes: 0, at: .now()))
        }
        let (checked, problem) = check.checked(result.mapError(\.cut), to: question)
        if let problem { log(.warning, problem) }
        owner?.port(self, sent: .answers(number, checked))
    }

    /// An answer was not sent; the component is none the worse for it.
    func tooLong(_ call: String, _ bytes: Int) -> String {
        "The component \(request.container)/\(request.component) (plugin \(request.plugin.id)) has "
            + "an answer of \(bytes) bytes to the call '\(call)', where \(Self.answerBytes) are "
            + "allowed: ask for less at a time, such as a shorter page."
    }

    /// Tells of a picture that it was to read.
    func read(_ number: Int, _ result: Result<ItemImage, Refusal>) {
        guard images.remove(number) != nil else {
            return fail("told of a picture that nobody asked for, and was killed")
        }
        owner?.port(self, sent: .image(number, result.mapError(\.cut)))
    }
}

// Calls that nobody waits for.
extension WorkerPort {
    func undo(_ changes: [Change]) { callInParts(CallParts.undo(changes)) }

    func report(_ values: [String: [Value]], cut: Set<String>) {
        callInParts(CallParts.report(values, cut: cut))
    }

    func deliver(_ notification: AtriumKit.Notification) { call(.deliver(notification)) }

    func reload() { call(.reload) }

    func tellAudience(_ screens: Int) { call(.audience(screens)) }

    func pass(_ phase: LifecyclePhase) { call(.pass(phase)) }
}
