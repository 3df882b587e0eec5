internal import AtriumKit
internal import Host
internal import Interfaces
internal import JSONCodec
internal import LogMessages
internal import Logging
internal import NIOCore
internal import PluginLoader
internal import Varlink

/// A component in a worker.
///
/// Its life: the process is started, `begin` says how to reach it and has the component made,
/// `launched` is called; then calls and answers, until `close`, or until the worker ends or is ended
/// because of what it did.
final class WorkerPort: ComponentPort {
    private(set) var kind: Kind
    private(set) var observedFields: [String] = []
    private(set) var preselection = Selection()
    private(set) var facts: ComponentFacts?
    private(set) var asks = false
    /// The questions that it has not answered.
    var asked = OpenQuestions()
    /// Told once whether the component was made.
    var launched: ((Result<any ComponentPort, LaunchFailure>) -> Void)?

    private enum State {
        case open
        /// Its end is certain, and why, if that is known; how the process ended is not.
        case ending(blame: String?, isOverdue: Bool)
        case closed
    }

    private(set) var request: LaunchRequest
    let process: WorkerProcess
    private let loop: any EventLoop
    private let limits: WorkerLimits
    private let logger: Logger
    let check: AnswerCheck
    private(set) weak var owner: (any PortOwner)?
    private let turns: TurnNotes
    /// The number by which it is noted that its worker said something.
    private let number: Int

    private var state = State.open {
        didSet { if case .closed = state { turns.remove(number) } }
    }
    private var link: WorkerLink?
    private var pending = PendingCalls()
    private lazy var inbox = WorkerInbox(
        on: loop, judging: check, hold: { [weak self] in self?.hold($0) },
        { [weak self] in self?.heard($0) })
    /// Why what the worker says waits: it is being read, it said too much.
    private var holds = Holds()
    var pace = PublishingPace()
    private var stateBudget = StateBudget()
    /// What was found of the answer that is being taken.
    private var judgement = WorkerInbox.Judgement()
    /// Calls that wait for their turn, behind one that is sent in parts.
    private var unsent = CircularBuffer<(call: WorkerCall, done: (WorkerAnswer) -> Void)>()
    /// Looks at the oldest call's time.
    private var timer = CallTimer()
    private var patterns: Set<String> = []
    /// The pictures that it was asked for, by number.
    var images: Set<Int> = []
    private var logLines = LineBudget()
    private let output: WorkerOutput

    /// Bytes of an answer to a question.
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

    /// Has the component made, now that its worker can be reached.
    func begin(_ link: WorkerLink) {
        guard case .open = state else { return }
        self.link = link
        logger.debug("a worker was started")
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        link.open { reply in port.value.port?.heard(reply) }
        if let kept = request.kept { callInParts(CallParts.kept(kept)) }
        request.kept = nil
        // Nobody else holds the port until it is made, or its worker has ended.
        var start = WorkerStart(request)
        start.callMilliseconds = Int(callTime / .milliseconds(1))
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
        case .started(let kind, let fields, let preselection, let facts, let asks):
            if let problem = check.problem(in: facts) {
                close()
                launched?(.failure(.failed(reason: problem)))
                return
            }
            self.kind = kind
            observedFields = check.observable(fields)
            self.preselection = preselection
            self.facts = facts
            self.asks = asks
            launched?(.success(self))
        case .notStarted(let failure):
            close()
            launched?(.failure(failure.cut))
        default:
            self.launched = launched
            fail("answered the call 'start' with something else")
        }
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

    func tellState(
        anew: Bool, _ done: @escaping (Result<StatePart, PortFailure>) -> Void
    ) {
        let call = anew ? WorkerCall.finishRestore : .giveMore
        if anew { stateBudget = StateBudget() }
        self.call(call) { [weak self] answer in
            guard let self else { return }
            guard case .restored(let events, let isLast) = answer else {
                return answeredWrongly(call.name)
            }
            if let problem = stateBudget.take(judgement.bytes) ?? judgement.problem {
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
                if let problem = self?.check.problem(in: decision, on: command, context) {
                    self?.mistrust(command.name, problem, done)
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
                if let problem = self?.check.problem(in: answer, to: query) {
                    self?.mistrust(query.name, problem, done)
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
            link.tell(pending.add("close", limit: limits.end, at: .now) { _ in }, .close)
        }
        logLines.end { tellUnlogged($0) }
        state = .closed
        owner = nil
        launched = nil
        pending.removeAll()
        timer.end()
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

    private func answeredWrongly(_ call: String, _ what: String = "something else") {
        fail("answered the call '\(call)' with \(what), and was killed")
    }

    /// Refuses a call whose answer breaks a rule, and ends the worker: what its component holds by
    /// now is not what the store does.
    private func mistrust<Answer>(
        _ call: String, _ problem: String, _ done: (Result<Answer, PortFailure>) -> Void
    ) {
        let problem = LineBudget.cut(problem)
        let reason =
            "The plugin \(request.plugin.id) answered the call '\(call)' with \(problem). Nothing "
            + "was changed, and its worker is started again."
        done(.failure(.refused(Refusal(.refused, reason))))
        answeredWrongly(call, problem)
    }

    func call(
        _ call: WorkerCall, _ done: @escaping (WorkerAnswer) -> Void = { _ in }
    ) {
        guard case .open = state else { return }
        if unsent.isEmpty { send(call, done) } else { unsent.append((call, done)) }
    }

    /// Sends a call in parts: one in a turn of the loop, and what is called meanwhile behind them.
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
        // Not at once: part upon part would keep the loop from its sockets.
        loop.scheduleTask(in: .microseconds(100)) { port.value.port?.sendNext() }
    }

    /// How long a call may take, but for those with which the component is made.
    private var callTime: Duration { limits.call ?? request.limits.callTime }

    private func send(_ call: WorkerCall, _ done: @escaping (WorkerAnswer) -> Void) {
        guard let link else { return }
        let limit = call.isOfStart ? limits.start : callTime
        let id = pending.add(
            call.name, limit: limit, isRequest: call.isRequest, at: .now, done)
        link.tell(id, call)
        time()
    }
}

// MARK: What the worker says

extension WorkerPort {
    private func heard(_ reply: Result<Worker.Attach.Reply, any Error>) {
        guard case .open = state else { return }
        noteTurn()
        switch reply {
        case .success(let said):
            inbox.take(said)
        case .failure(let error as VarlinkConnectionError) where error.kind == .protocolViolation:
            fail("did not keep to the protocol: \(error)")
        case .failure: lost()
        }
    }

    /// What this turn of the loop is about.
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
            case .sent(let message, let judgement): tell(message, judgement)
            }
        } catch {
            fail("said what can't be read: \(error)")
        }
    }

    private func answered(_ id: Int, _ answer: WorkerAnswer) throws(WireError) {
        guard let answered = pending.answered(id, at: .now) else {
            throw WireError(expected: "the answer to another call", found: "\(id)")
        }
        if answered.took >= limits.slow { tellSlow(answered) }
        answered.call.done(answer)
        // The next one may be due before the timer that was set for this one.
        time()
    }

    private func tellSlow(_ answered: PendingCalls.Answered) {
        logger.tell(
            .callSlow,
            [
                "call": "\(answered.call.name)",
                "reason": "\(answered.words(behind: pending.count, request.callSetting))",
            ])
    }

    private func tell(_ message: ComponentMessage, _ judgement: WorkerInbox.Judgement) {
        switch message {
        case .raised(let events):
            if let problem = judgement.problem {
                return fail("told of \(problem), and was killed")
            }
            owner?.port(self, sent: .raised(events))
        case .publishes(let name, let payload):
            if let problem = check.problem(publishing: name, payload) {
                log(.warning, "The notification '\(name)' is dropped: \(problem).")
            } else {
                owner?.port(self, sent: message)
            }
            slowDown(pace.publishes(bytes: Value.object(payload).roughSize, at: .now()))
        case .observes(let pattern):
            // The worker counts too, and says so: this one does not keep to the rules.
            guard patterns.count < AnswerCheck.patterns || patterns.contains(pattern) else {
                return
            }
            patterns.insert(pattern)
            owner?.port(self, sent: message)
        case .logs(let level, let message): log(level, message)
        case .reports(let problem):
            owner?.port(self, sent: .reports(problem: problem.map { LineBudget.cut($0) }))
            slowDown(pace.publishes(bytes: 0, at: .now()))
        case .keeps:
            owner?.port(self, sent: message)
            slowDown(pace.publishes(bytes: 0, at: .now()))
        case .answers(let number, let result): answered(number, result)
        case .image(let number, let result): read(number, result)
        }
    }

    /// Has the worker wait that publishes too fast; nothing of what it says is lost.
    func slowDown(_ pause: PublishingPace.Pause?) {
        guard let pause else { return }
        if pause.isFirst {
            log(
                .warning,
                "It publishes faster than \(PublishingPace.rate) notifications, or "
                    + "\(PublishingPace.rate * PublishingPace.unitBytes / 1_000_000) MB, a second: "
                    + "what it says waits.")
        }
        hold(true)
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        loop.scheduleTask(in: pause.time) { port.value.port?.hold(false) }
    }

    func hold(_ isHeld: Bool) {
        let now = ContinuousClock.now
        reckonHeld(until: now)
        if holds.set(isHeld, at: now) { link?.hold(holds.isHeld) }
    }

    /// Has the time during which what the worker says waited taken off that of its calls.
    private func reckonHeld(until now: ContinuousClock.Instant) {
        if let begin = holds.takeBegin(until: now) { pending.wasHeld(from: begin, to: now) }
    }

    /// Logs what the component has to say, as far as anybody may want to read it.
    func log(_ level: LogLevel, _ message: String) {
        guard logLines.admits(tell: { tellUnlogged($0) }) else { return }
        owner?.port(self, sent: .logs(level, LineBudget.cut(message)))
    }

    private func tellUnlogged(_ count: Int) {
        owner?.port(self, sent: .logs(.warning, "\(count) more messages were dropped."))
    }
}

// MARK: Time

extension WorkerPort {
    /// Has the oldest call looked at when its time is over.
    private func time() {
        guard let deadline = pending.deadline else { return }
        let port = NIOLoopBound(Reference(port: self), eventLoop: loop)
        timer.set(deadline, on: loop) { port.value.port?.lookAtTime() }
    }

    private func lookAtTime() {
        timer.end()
        guard case .open = state else { return }
        let now = ContinuousClock.now
        // Its answer may be among what waits.
        reckonHeld(until: now)
        guard let overdue = pending.overdue(at: now) else { return time() }
        let activity = process.activity.map { ", \($0)" } ?? ""
        fail(
            "did not answer the call '\(overdue.name)' within \(overdue.limit) "
                + "(waited \(overdue.elapsed)\(activity)) and was killed", isOverdue: true)
    }
}

// MARK: The end

extension WorkerPort {
    /// Ends the worker because of what it did, as the rest of a sentence.
    func fail(_ blame: String, isOverdue: Bool = false) {
        guard case .open = state else { return }
        timer.end()
        state = .ending(blame: LineBudget.cut(blame), isOverdue: isOverdue)
        // One that hangs says where first.
        if isOverdue { process.abort() } else { process.kill() }
        end(within: isOverdue ? .milliseconds(500) : .zero)
    }

    /// The worker closed its connection: it has ended, or is about to.
    private func lost() {
        timer.end()
        state = .ending(blame: nil, isOverdue: false)
        end(within: .milliseconds(200))
    }

    private func end(within grace: TimeAmount) {
        // Holds the port until then: a process is always reaped.
        logLines.end { tellUnlogged($0) }
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
        // One that was ended for what it said was at nothing that is to blame.
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
