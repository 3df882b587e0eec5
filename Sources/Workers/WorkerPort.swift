internal import AtriumKit
internal import Host
internal import Interfaces
internal import LogMessages
internal import Logging
internal import NIOCore
internal import PluginLoader
internal import Varlink

/// The port of a component in a worker.
///
/// The process is started first. ``begin(_:)`` takes the connection and makes the component, and `launched` is called.
/// Then come calls and answers, until ``close()``, until the worker ends, or until the port ends it for an error or a
/// timeout.
final class WorkerPort: ComponentPort {
    private(set) var kind: Kind
    private(set) var observedFields: [String] = []
    private(set) var preselection = Selection()
    private(set) var facts: ComponentFacts?
    private(set) var asks = false
    /// The questions that are not answered yet.
    var asked = OpenQuestions()
    /// Called once, with the port or with why the component could not be made.
    var launched: ((Result<any ComponentPort, LaunchFailure>) -> Void)?

    private enum State {
        case open
        /// The process is ending; `blame` is the reason if it is known already.
        case ending(blame: String?, isOverdue: Bool)
        case closed
    }

    private(set) var request: LaunchRequest
    let process: WorkerProcess
    private let loop: any EventLoop
    private let limits: WorkerLimits
    let logger: Logger
    let check: AnswerCheck
    private(set) weak var owner: (any PortOwner)?
    private let turns: TurnNotes
    /// The worker's number in `turns`.
    private let number: Int

    private var state = State.open {
        didSet { if case .closed = state { turns.remove(number) } }
    }
    private(set) lazy var calls = WorkerCalls(request, limits, on: loop, logger: logger) {
        [weak self] in self?.overdue($0)
    }
    private lazy var inbox = WorkerInbox(
        on: loop, judging: check, of: { [weak self] in self?.calls.asked($0) },
        setPaused: { [weak self] in self?.calls.setReadingPaused($0) },
        { [weak self] in self?.heard($0) })
    var pace = WorkerPace(WorkerPace.notifications)
    private var stateBudget = StateBudget()
    /// The check of the answer that is being processed.
    private var judgement = WorkerInbox.Judgement()
    private var patterns: Set<String> = []
    /// The numbers of pictures that were requested and not received yet.
    var images: Set<Int> = []
    private var logLines = LineBudget()
    private let output: WorkerOutput

    /// The most bytes of an answer to a query.
    static let answerBytes = 16 << 20

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
        check = AnswerCheck(request)
        var logger = logger
        logger[metadataKey: "container"] = "\(request.container)"
        logger[metadataKey: "component"] = "\(request.component)"
        logger[metadataKey: "plugin"] = "\(request.plugin.id)"
        logger[metadataKey: "worker"] = "\(process.id)"
        self.logger = logger
        output = WorkerOutput.follow(process.output, on: loop, logger: logger)
    }

    /// Makes the component, now that the worker is connected.
    func begin(_ link: WorkerLink) {
        guard case .open = state else { return }
        calls.begin(on: link)
        logger.debug("a worker was started")
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        link.open { reply in port.value.port?.heard(reply) }
        if let kept = request.kept { calls.call(inParts: CallParts.kept(kept)) }
        request.kept = nil
        // This closure holds the port: nothing else does until the component is made or the worker has ended.
        var start = WorkerStart(request)
        start.callMilliseconds = Int(calls.time / .milliseconds(1))
        calls.call(.start(start)) { answer in self.started(answer) }
    }

    /// A weak reference, so that a connection or timer does not keep the port alive.
    private struct Reference {
        weak var port: WorkerPort?
    }

    private func started(_ answer: WorkerAnswer) {
        let launched = launched
        self.launched = nil
        switch answer {
        case .started(let kind, let fields, let preselection, let facts, let asks):
            if let problem = check.problem(in: facts) {
                close()
                launched?(.failure(.failed(reason: problem)))
                return
            }
            self.kind = kind
            setFacts(fields, preselection, facts, asks: asks)
            launched?(.success(self))
        case .notStarted(let failure):
            close()
            launched?(.failure(failure.cut))
        default:
            self.launched = launched
            fail("answered the call 'start' with something else")
        }
    }

    /// Sets the fields that the component observes, its preselection and its facts, as of its present settings, and
    /// whether it is asked.
    func setFacts(_ fields: [String], _ selected: Selection, _ facts: ComponentFacts?, asks: Bool) {
        self.asks = asks
        observedFields = check.observable(fields)
        preselection = selected
        self.facts = facts
    }
}

// MARK: Calls

extension WorkerPort {
    func load(_ changes: [Change], _ done: @escaping () -> Void) {
        calls.call(.restore(changes)) { [weak self] answer in
            switch answer {
            case .done: done()
            default: self?.answeredWrongly("restore")
            }
        }
    }

    func reportState(
        anew: Bool, _ done: @escaping (Result<StatePart, PortFailure>) -> Void
    ) {
        let call = anew ? WorkerCall.finishRestore : .giveMore
        if anew { stateBudget = StateBudget() }
        calls.call(call) { [weak self] answer in
            guard let self else { return }
            guard case .restored(let events, let isLast) = answer else {
                return answeredWrongly(call.name)
            }
            if let problem = stateBudget.charge(judgement.bytes) ?? judgement.problem {
                return answeredWrongly(call.name, problem)
            }
            done(.success(StatePart(events, isLast: isLast)))
        }
    }

    func decide(
        _ command: ComponentCommand, _ context: CommandContext,
        _ done: @escaping (Result<Decision, PortFailure>) -> Void
    ) {
        calls.call(.decide(command, context)) { [weak self] answer in
            switch answer {
            case .decided(let decision):
                if let self, let problem = judgement.problem {
                    mistrust(command.name, problem, done)
                } else {
                    done(.success(decision))
                }
            case .refused(let refusal): done(.failure(.refused(refusal.cut)))
            case .tooLong(let bytes):
                self?.mistrust(
                    command.name, "\(bytes) bytes, where \(WorkerInbox.most) are allowed", done)
            default: self?.answeredWrongly(command.name)
            }
        }
    }

    func answer(
        _ query: ComponentQuery,
        _ done: @escaping (Result<ComponentAnswer, PortFailure>) -> Void
    ) {
        calls.call(.answer(query)) { [weak self] answer in
            switch answer {
            case .answered(let answer):
                if let self, let problem = judgement.problem {
                    mistrust(query.name, problem, done)
                } else {
                    done(.success(answer))
                }
            case .refused(let refusal): done(.failure(.refused(refusal.cut)))
            case .tooLong(let bytes):
                if let reason = self?.tooLong(query.name, bytes) {
                    done(.failure(.refused(Refusal(.refused, reason))))
                }
            default: self?.answeredWrongly(query.name)
            }
        }
    }

    func close() {
        guard case .open = state else {
            state = .closed
            owner = nil
            return
        }
        let isConnected = calls.isConnected
        calls.close()
        logLines.end { logUnlogged($0) }
        state = .closed
        owner = nil
        launched = nil
        if !isConnected { process.kill() }
        end(within: TimeAmount(limits.end))
    }

    /// Ends the worker while its component is being made; the owner is not notified.
    func giveUp() {
        guard launched != nil else { return }
        launched = nil
        owner = nil
        guard case .open = state else { return }
        state = .closed
        calls.end()
        process.kill()
        end(within: .zero)
    }

    private func answeredWrongly(_ call: String, _ what: String = "something else") {
        fail("answered the call '\(call)' with \(what), and was killed")
    }

    /// Refuses a call whose answer breaks a rule, and ends the worker, since its component's state may differ
    /// from the store's.
    private func mistrust<Answer>(
        _ call: String, _ problem: String, _ done: (Result<Answer, PortFailure>) -> Void
    ) {
        let problem = LineBudget.cut(problem)
        let reason =
            "The plugin \(request.plugin.id) answered the call '\(call)' with \(problem). Nothing "
            + "was changed, and its worker is started again."
        done(.failure(.mistrusted(reason: reason)))
        answeredWrongly(call, problem)
    }
}

// MARK: The worker's messages

extension WorkerPort {
    private func heard(_ reply: Result<Worker.Attach.Reply, any Error>) {
        guard case .open = state else { return }
        noteTurn()
        switch reply {
        case .success(let said):
            inbox.receive(said)
        case .failure(let error as VarlinkConnectionError) where error.kind == .protocolViolation:
            fail("did not keep to the protocol: \(error)")
        case .failure: lost()
        }
    }

    /// Notes that this turn of the loop processes the worker's messages.
    private func noteTurn() {
        turns.work.insert(.worker)
        turns.component = number
    }

    private func heard(_ message: Result<WorkerInbox.Message, WireError>) {
        guard case .open = state else { return }
        noteTurn()
        do throws(WireError) {
            switch try message.get() {
            case .answer(let id, let answer, let judgement):
                self.judgement = judgement
                try calls.answered(id, answer)
            case .sent(let message, let judgement): report(message, judgement)
            }
        } catch {
            fail("sent an unreadable message: \(error)")
        }
    }

    private func report(_ message: ComponentMessage, _ judgement: WorkerInbox.Judgement) {
        switch message {
        case .raised(let events):
            if let problem = judgement.problem {
                return fail("reported \(problem), and was killed")
            }
            owner?.port(self, sent: .raised(events))
        case .publishes(let name, let payload):
            if let problem = check.problem(publishing: name, payload) {
                log(.warning, "The notification '\(name)' is dropped: \(problem).")
            } else {
                owner?.port(self, sent: message)
            }
            slowDown(pace.count(bytes: Value.object(payload).roughSize, at: .now()))
        case .observes(let pattern):
            // The worker's harness enforces the limit and logs it, so this worker is broken.
            guard patterns.count < AnswerCheck.patterns || patterns.contains(pattern) else {
                return
            }
            patterns.insert(pattern)
            owner?.port(self, sent: message)
        case .logs(let level, let message): log(level, message)
        case .reports(let problem):
            owner?.port(self, sent: .reports(problem: problem.map { LineBudget.cut($0) }))
            slowDown(pace.count(bytes: 0, at: .now()))
        case .keeps:
            owner?.port(self, sent: message)
            slowDown(pace.count(bytes: 0, at: .now()))
        case .answers(let number, let result): answered(number, result)
        case .image(let number, let result): read(number, result)
        }
    }

    /// Pauses reading from a worker that publishes too fast; its messages wait and are not lost.
    func slowDown(_ pause: WorkerPace.Pause?) {
        guard let pause else { return }
        if pause.isFirst {
            log(.warning, WorkerPace.warning)
        }
        calls.setReadingPaused(true)
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        loop.scheduleTask(in: pause.time) { port.value.port?.setReadingPaused(false) }
    }

    func setReadingPaused(_ isPaused: Bool) { calls.setReadingPaused(isPaused) }

    /// Sends a log line to the owner, unless there are too many.
    func log(_ level: LogLevel, _ message: String) {
        guard logLines.admits(report: { logUnlogged($0) }) else { return }
        owner?.port(self, sent: .logs(level, LineBudget.cut(message)))
    }

    private func logUnlogged(_ count: Int) {
        owner?.port(self, sent: .logs(.warning, "\(count) more messages were dropped."))
    }
}

// MARK: The end

extension WorkerPort {
    /// Kills the worker for a fault, which `blame` describes as the rest of a sentence.
    func fail(_ blame: String, isOverdue: Bool = false) {
        guard case .open = state else { return }
        calls.stop()
        state = .ending(blame: LineBudget.cut(blame), isOverdue: isOverdue)
        // A worker that hangs first prints a backtrace.
        if isOverdue { process.abort() } else { process.kill() }
        end(within: isOverdue ? .milliseconds(500) : .zero)
    }

    /// Ends the worker for a call that it has not answered in time.
    private func overdue(_ call: PendingCalls.Overdue) {
        let activity = process.activity.map { ", \($0)" } ?? ""
        fail(
            "did not answer the call '\(call.name)' within \(call.limit) "
                + "(waited \(call.elapsed)\(activity)) and was killed", isOverdue: true)
    }

    /// Waits for the worker's end after it closed its connection.
    private func lost() {
        calls.stop()
        state = .ending(blame: nil, isOverdue: false)
        end(within: .milliseconds(200))
    }

    private func end(within grace: TimeAmount) {
        // The closure holds the port until the process is reaped, so that each process is.
        logLines.end { logUnlogged($0) }
        process.reap(within: grace) { how in
            self.output.whenOver(within: .milliseconds(100), on: self.loop) { self.ended(how) }
        }
    }

    private func ended(_ how: String) {
        let present = calls.present
        calls.end()
        guard case .ending(let blame, let isOverdue) = state else {
            return logger.debug("a worker ended", metadata: ["how": "\(how)"])
        }
        state = .closed
        // A worker that was killed for a message is not to blame for a request.
        let isOfCall = blame == nil || isOverdue
        let reason =
            "The worker \(process.id) of \(request.plugin.id) for "
            + "\(request.container)/\(request.component) \(blame ?? how)\(output.lastWords)."
        if let launched {
            self.launched = nil
            launched(.failure(.unavailable(reason: reason)))
        } else {
            let death = PortDeath(
                reason, wasAtRequest: isOfCall && present?.isRequest == true,
                wasOverdue: isOverdue, wasAtValues: isOfCall && present?.takesValues == true)
            owner?.port(self, died: death)
        }
    }
}
