internal import AtriumKit
internal import Host
internal import Interfaces
internal import JSONCodec
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
    private var link: WorkerLink?
    private var pending = PendingCalls()
    private lazy var inbox = WorkerInbox(
        on: loop, judging: check, of: { [weak self] in self?.pending.asked($0) },
        setPaused: { [weak self] in self?.setReadingPaused($0) },
        { [weak self] in self?.heard($0) })
    /// Why reading from the worker is paused: a message is being decoded, or it sent too much.
    private var pauses = ReadingPauses()
    var pace = WorkerPace(WorkerPace.notifications)
    private var stateBudget = StateBudget()
    /// The check of the answer that is being processed.
    private var judgement = WorkerInbox.Judgement()
    /// Calls that wait behind one that is sent in parts.
    private var unsent = CircularBuffer<(call: WorkerCall, done: (WorkerAnswer) -> Void)>()
    /// Fires when the oldest call is overdue.
    private var timer = CallTimer()
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
        self.link = link
        logger.debug("a worker was started")
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        link.open { reply in port.value.port?.heard(reply) }
        if let kept = request.kept { callInParts(CallParts.kept(kept)) }
        request.kept = nil
        // This closure holds the port: nothing else does until the component is made or the worker has ended.
        var start = WorkerStart(request)
        start.callMilliseconds = Int(callTime / .milliseconds(1))
        call(.start(start)) { answer in self.started(answer) }
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
        call(.restore(changes)) { [weak self] answer in
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
        self.call(call) { [weak self] answer in
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
        call(.decide(command, context)) { [weak self] answer in
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
        call(.answer(query)) { [weak self] answer in
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
        if let link {
            link.send(pending.add("close", limit: limits.end, at: .now) { _ in }, .close)
        }
        logLines.end { logUnlogged($0) }
        state = .closed
        owner = nil
        launched = nil
        pending.removeAll()
        timer.end()
        if link == nil { process.kill() }
        end(within: TimeAmount(limits.end))
    }

    /// Ends the worker while its component is being made; the owner is not notified.
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

    func call(
        _ call: WorkerCall, _ done: @escaping (WorkerAnswer) -> Void = { _ in }
    ) {
        guard case .open = state else { return }
        if unsent.isEmpty { send(call, done) } else { unsent.append((call, done)) }
    }

    /// Sends a call in parts, one in each turn of the loop; other calls wait behind them.
    func callInParts(_ parts: [WorkerCall]) {
        guard case .open = state else { return }
        let isFirst = unsent.isEmpty
        for part in parts { unsent.append((part, { _ in })) }
        if isFirst { sendNext() }
    }

    private func sendNext() {
        guard case .open = state, let (call, done) = unsent.popFirst() else { return }
        send(call, done)
        guard !unsent.isEmpty else { return }
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        // With a delay: sending part after part would keep the loop from serving its sockets.
        loop.scheduleTask(in: .microseconds(100)) { port.value.port?.sendNext() }
    }

    /// The time that a call may take, other than those that make or restore the component.
    private var callTime: Duration { limits.call ?? request.limits.callTime }

    private func send(_ call: WorkerCall, _ done: @escaping (WorkerAnswer) -> Void) {
        guard let link else { return }
        let limit = call.isOfStart ? limits.start : callTime
        let id = pending.add(
            call.name, limit: limit, isRequest: call.isRequest, at: .now, asking: call.asked, done)
        link.send(id, call)
        time()
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
                try answered(id, answer)
            case .sent(let message, let judgement): report(message, judgement)
            }
        } catch {
            fail("sent an unreadable message: \(error)")
        }
    }

    private func answered(_ id: Int, _ answer: WorkerAnswer) throws(WireError) {
        guard let answered = pending.answered(id, at: .now) else {
            throw WireError(expected: "the answer to another call", found: "\(id)")
        }
        if answered.took >= limits.slow { logSlow(answered) }
        answered.call.done(answer)
        // The next one may be due before the timer that was set for this one.
        time()
    }

    private func logSlow(_ answered: PendingCalls.Answered) {
        logger.log(
            .callSlow,
            [
                "call": "\(answered.call.name)",
                "reason": "\(answered.words(behind: pending.count, request.callSetting))",
            ])
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
        setReadingPaused(true)
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        loop.scheduleTask(in: pause.time) { port.value.port?.setReadingPaused(false) }
    }

    func setReadingPaused(_ isPaused: Bool) {
        let now = ContinuousClock.now
        reckonPaused(until: now)
        if pauses.set(isPaused, at: now) { link?.setReadingPaused(pauses.isPaused) }
    }

    /// Subtracts the pauses of reading from the time of the oldest call.
    private func reckonPaused(until now: ContinuousClock.Instant) {
        if let begin = pauses.takeBegin(until: now) { pending.wasPaused(from: begin, to: now) }
    }

    /// Sends a log line to the owner, unless there are too many.
    func log(_ level: LogLevel, _ message: String) {
        guard logLines.admits(report: { logUnlogged($0) }) else { return }
        owner?.port(self, sent: .logs(level, LineBudget.cut(message)))
    }

    private func logUnlogged(_ count: Int) {
        owner?.port(self, sent: .logs(.warning, "\(count) more messages were dropped."))
    }
}

// MARK: Time

extension WorkerPort {
    /// Sets the timer for when the oldest call is overdue.
    private func time() {
        guard let deadline = pending.deadline else { return }
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        timer.set(deadline, on: loop) { port.value.port?.lookAtTime() }
    }

    private func lookAtTime() {
        timer.end()
        guard case .open = state else { return }
        let now = ContinuousClock.now
        // The answer may be among the messages that were not read yet.
        reckonPaused(until: now)
        guard let overdue = pending.overdue(at: now) else { return time() }
        let activity = process.activity.map { ", \($0)" } ?? ""
        fail(
            "did not answer the call '\(overdue.name)' within \(overdue.limit) "
                + "(waited \(overdue.elapsed)\(activity)) and was killed", isOverdue: true)
    }
}

// MARK: The end

extension WorkerPort {
    /// Kills the worker for a fault, which `blame` describes as the rest of a sentence.
    func fail(_ blame: String, isOverdue: Bool = false) {
        guard case .open = state else { return }
        timer.end()
        state = .ending(blame: LineBudget.cut(blame), isOverdue: isOverdue)
        // A worker that hangs first prints a backtrace.
        if isOverdue { process.abort() } else { process.kill() }
        end(within: isOverdue ? .milliseconds(500) : .zero)
    }

    /// Waits for the worker's end after it closed its connection.
    private func lost() {
        timer.end()
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
        link = nil
        guard case .ending(let blame, let isOverdue) = state else {
            return logger.debug("a worker ended", metadata: ["how": "\(how)"])
        }
        state = .closed
        // A worker that was killed for a message is not to blame for a request.
        let wasAtRequest = (blame == nil || isOverdue) && pending.present?.isRequest == true
        pending.removeAll()
        let reason =
            "The worker \(process.id) of \(request.plugin.id) for "
            + "\(request.container)/\(request.component) \(blame ?? how)\(output.lastWords)."
        if let launched {
            self.launched = nil
            launched(.failure(.unavailable(reason: reason)))
        } else {
            let death = PortDeath(reason, wasAtRequest: wasAtRequest, wasOverdue: isOverdue)
            owner?.port(self, died: death)
        }
    }
}
