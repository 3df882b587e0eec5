internal import AtriumKit
internal import Host
internal import Interfaces
internal import LogMessages
internal import Logging
internal import NIOCore

/// A component in a worker.
///
/// Its life: the process is started, `begin` says how to reach it and has the component made,
/// `launched` is called; then calls and answers, until `close`, or until the worker ends or is ended
/// because of what it did.
final class WorkerPort: ComponentPort {
    private(set) var kind: Kind
    private(set) var observedFields: [String] = []
    /// Told once whether the component was made.
    var launched: ((Result<any ComponentPort, LaunchFailure>) -> Void)?

    private enum State {
        case open
        /// Its end is certain, and why, if that is known; how the process ended is not.
        case ending(blame: String?)
        case closed
    }

    private let request: LaunchRequest
    let process: WorkerProcess
    private let loop: any EventLoop
    private let limits: WorkerLimits
    private let logger: Logger
    private weak var owner: (any PortOwner)?

    private let turns: TurnNotes
    /// The number by which it is noted that its worker said something.
    private let number: Int

    private var state = State.open {
        didSet { if case .closed = state { turns.remove(number) } }
    }
    private var link: WorkerLink?
    private var pending = PendingCalls()
    private var isTimed = false

    init(
        _ request: LaunchRequest, _ process: WorkerProcess, _ loop: any EventLoop,
        _ limits: WorkerLimits, _ logger: Logger, _ owner: any PortOwner, _ turns: TurnNotes
    ) {
        self.request = request
        self.process = process
        self.loop = loop
        self.limits = limits
        self.owner = owner
        self.turns = turns
        number = turns.add(
            TurnNotes.Component(
                container: request.container, name: request.component,
                plugin: request.plugin.id))
        kind = request.plugin.kind
        var logger = logger
        logger[metadataKey: "container"] = "\(request.container)"
        logger[metadataKey: "component"] = "\(request.component)"
        logger[metadataKey: "plugin"] = "\(request.plugin.id)"
        logger[metadataKey: "worker"] = "\(process.id)"
        self.logger = logger
        WorkerOutput.follow(process.output, on: loop, logger: logger)
    }

    /// Has the component made, now that its worker can be reached.
    func begin(_ link: WorkerLink) {
        guard case .open = state else { return }
        self.link = link
        logger.debug("a worker was started")
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        link.open { reply in port.value.port?.heard(reply) }
        let start = WorkerStart(
            kind: request.plugin.kind, container: request.container,
            component: request.component, settings: request.settings,
            secrets: request.secrets, fields: request.fields)
        // Nobody else holds the port until it is made, or its worker has ended.
        call(.start(start)) { answer in self.started(answer) }
    }

    /// What a connection holds of its port.
    private struct Reference {
        weak var port: WorkerPort?
    }

    private func started(_ answer: WorkerAnswer) {
        let launched = launched
        self.launched = nil
        switch answer {
        case .started(let kind, let fields):
            self.kind = kind
            observedFields = fields
            launched?(.success(self))
        case .notStarted(let failure):
            close()
            launched?(.failure(failure))
        default:
            self.launched = launched
            fail("answered the call 'start' with something else")
        }
    }
}

// MARK: Calls

extension WorkerPort {
    func restore(_ changes: [Change]) { call(.restore(changes)) }

    func finishRestore(_ done: @escaping (Result<[ComponentEvent], PortFailure>) -> Void) {
        call(.finishRestore) { [weak self] answer in
            switch answer {
            case .restored(let events): done(.success(events))
            default: self?.answeredWrongly("finishRestore")
            }
        }
    }

    func decide(
        _ command: ComponentCommand, _ context: CommandContext,
        _ done: @escaping (Result<Decision, PortFailure>) -> Void
    ) {
        call(.decide(command, context)) { [weak self] answer in
            switch answer {
            case .decided(let decision): done(.success(decision))
            case .refused(let refusal): done(.failure(.refused(refusal)))
            default: self?.answeredWrongly(command.name)
            }
        }
    }

    func answer(
        _ query: ComponentQuery,
        _ done: @escaping (Result<ComponentAnswer, PortFailure>) -> Void
    ) {
        call(.answer(query)) { [weak self] answer in
            switch answer {
            case .answered(let answer): done(.success(answer))
            case .refused(let refusal): done(.failure(.refused(refusal)))
            default: self?.answeredWrongly(query.name)
            }
        }
    }

    func undo(_ changes: [Change]) { call(.undo(changes)) }

    func report(_ values: [String: [Value]]) { call(.report(values)) }

    func deliver(_ notification: AtriumKit.Notification) { call(.deliver(notification)) }

    func pass(_ phase: LifecyclePhase) { call(.pass(phase)) }

    func close() {
        guard case .open = state else {
            state = .closed
            owner = nil
            return
        }
        if let link { link.tell(pending.add("close", at: .now) { _ in }, .close) }
        state = .closed
        owner = nil
        launched = nil
        pending.removeAll()
        if link == nil { process.kill() }
        end(within: TimeAmount(limits.end))
    }

    /// Ends the worker while its component is being made; nobody is told.
    func giveUp() {
        guard launched != nil else { return }
        launched = nil
        owner = nil
        guard case .open = state else { return }
        state = .closed
        pending.removeAll()
        process.kill()
        end(within: .zero)
    }

    private func answeredWrongly(_ call: String) {
        fail("answered the call '\(call)' with something else")
    }

    private func call(
        _ call: WorkerCall, _ done: @escaping (WorkerAnswer) -> Void = { _ in }
    ) {
        guard case .open = state, let link else { return }
        link.tell(pending.add(call.name, at: .now, done), call)
        time()
    }
}

// MARK: What the worker says

extension WorkerPort {
    private func heard(_ reply: Result<Worker.Attach.Reply, any Error>) {
        guard case .open = state else { return }
        turns.work.insert(.worker)
        turns.component = number
        let said: Worker.Attach.Reply
        switch reply {
        case .success(let reply): said = reply
        case .failure: return lost()
        }
        do throws(WireError) {
            let wire = try WireText.decode(said.message)
            if let id = said.id {
                try answered(id, WorkerAnswer(wire: wire))
            } else {
                tell(try WorkerWord(wire: wire))
            }
        } catch {
            fail("said what can't be read: \(error)")
        }
    }

    private func answered(_ id: Int, _ answer: WorkerAnswer) throws(WireError) {
        guard let call = pending.answered(id, at: .now) else {
            throw WireError(expected: "the answer to another call", found: "\(id)")
        }
        call.done(answer)
    }

    private func tell(_ word: WorkerWord) {
        switch word {
        case .raised(let events): owner?.port(self, raised: events)
        case .publishes(let name, let payload):
            owner?.port(self, publishes: name, payload: payload)
        case .observes(let pattern): owner?.port(self, observes: pattern)
        case .logs(let level, let message): owner?.port(self, logs: level, message)
        }
    }
}

// MARK: Time

extension WorkerPort {
    /// Has the oldest call looked at when its time is over: one timer, whatever the number of calls.
    private func time() {
        guard !isTimed, let deadline = pending.deadline(limits.call) else { return }
        isTimed = true
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        let rest = max(.zero, deadline - .now)
        loop.scheduleTask(in: TimeAmount(rest) + .milliseconds(1)) {
            port.value.port?.lookAtTime()
        }
    }

    private func lookAtTime() {
        isTimed = false
        guard case .open = state else { return }
        guard let overdue = pending.overdue(limits.call, at: .now) else { return time() }
        fail(
            "did not answer the call '\(overdue.name)' within \(limits.call) "
                + "(waited \(overdue.elapsed)) and was killed")
    }
}

// MARK: The end

extension WorkerPort {
    /// Ends the worker because of what it did, as the rest of a sentence.
    func fail(_ blame: String) {
        guard case .open = state else { return }
        state = .ending(blame: blame)
        process.kill()
        end(within: .zero)
    }

    /// The worker closed its connection: it has ended, or is about to.
    private func lost() {
        state = .ending(blame: nil)
        end(within: .milliseconds(200))
    }

    private func end(within grace: TimeAmount) {
        // Holds the port until then: a process is always reaped.
        process.reap(within: grace) { self.ended($0) }
    }

    private func ended(_ how: String) {
        link = nil
        guard case .ending(let blame) = state else {
            return logger.debug("a worker ended", metadata: ["how": "\(how)"])
        }
        state = .closed
        pending.removeAll()
        let reason =
            "The worker \(process.id) of \(request.plugin.id) for "
            + "\(request.container)/\(request.component) \(blame ?? how)."
        if let launched {
            self.launched = nil
            launched(.failure(.unavailable(reason: reason)))
        } else {
            owner?.port(self, diedBecause: reason)
        }
    }
}
