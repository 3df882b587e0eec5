internal import Host
internal import LogMessages
internal import Logging
internal import NIOCore

/// The calls to a worker: sends them in order, and finds one that takes too long.
///
/// A call of many parts is sent with one part in each turn of the loop; calls behind it wait for the last part.
final class WorkerCalls {
    private let loop: any EventLoop
    private let limits: WorkerLimits
    private let logger: Logger
    /// The time that a call may take, other than those that make or restore the component.
    let time: Duration
    /// The setting that limits it, for messages.
    private let setting: String
    /// Called with a call that is overdue.
    private let isOverdue: (PendingCalls.Overdue) -> Void

    /// The connection to the worker; nil until there is one, and once the worker has ended.
    private var link: WorkerLink?
    private var isOpen = true
    private var pending = PendingCalls()
    /// Calls that wait behind one that is sent in parts.
    private var unsent = CircularBuffer<(call: WorkerCall, done: (WorkerAnswer) -> Void)>()
    /// Fires when the oldest call is overdue.
    private var timer = CallTimer()
    /// Why reading from the worker is paused: a message is being decoded, or it sent too much.
    private var pauses = ReadingPauses()

    init(
        _ request: LaunchRequest, _ limits: WorkerLimits, on loop: any EventLoop, logger: Logger,
        isOverdue: @escaping (PendingCalls.Overdue) -> Void
    ) {
        self.loop = loop
        self.limits = limits
        self.logger = logger
        self.isOverdue = isOverdue
        time = limits.call ?? request.limits.callTime
        setting = request.callSetting
    }

    /// Whether there is a connection to the worker.
    var isConnected: Bool { link != nil }

    /// The call that the worker is running; nil: none.
    var present: PendingCalls.Call? { pending.present }

    /// The command or query of a call that is not answered yet.
    func asked(_ id: Int) -> AnswerCheck.Asked? { pending.asked(id) }

    // MARK: Begin and end

    /// Sends calls over a connection from now on.
    func begin(on link: WorkerLink) { self.link = link }

    /// Sends no more calls; those that are not answered stay, until ``end()``.
    func stop() {
        isOpen = false
        timer.end()
    }

    /// Sends the last call, by which the worker ends.
    func close() {
        if isOpen, let link {
            link.send(pending.add("close", limit: limits.end, at: .now) { _ in }, .close)
        }
        stop()
        pending.removeAll()
    }

    /// Forgets the calls of a worker that has ended, and the connection to it.
    func end() {
        stop()
        link = nil
        pending.removeAll()
    }
}

// MARK: Calls

extension WorkerCalls {
    func call(_ call: WorkerCall, _ done: @escaping (WorkerAnswer) -> Void = { _ in }) {
        guard isOpen else { return }
        if unsent.isEmpty { send(call, done) } else { unsent.append((call, done)) }
    }

    /// Sends a call in parts, one in each turn of the loop; other calls wait behind them.
    ///
    /// `done` gets the answer to the last part.
    func call(
        inParts parts: [WorkerCall], _ done: @escaping (WorkerAnswer) -> Void = { _ in }
    ) {
        guard isOpen else { return }
        let isFirst = unsent.isEmpty
        for part in parts.dropLast() { unsent.append((part, { _ in })) }
        if let last = parts.last { unsent.append((last, done)) }
        if isFirst { sendNext() }
    }

    private func sendNext() {
        guard isOpen, let (call, done) = unsent.popFirst() else { return }
        send(call, done)
        guard !unsent.isEmpty else { return }
        let calls = NIOLoopBound(Reference(calls: self), eventLoop: loop)
        // With a delay: sending part after part would keep the loop from serving its sockets.
        loop.scheduleTask(in: .microseconds(100)) { calls.value.calls?.sendNext() }
    }

    private func send(_ call: WorkerCall, _ done: @escaping (WorkerAnswer) -> Void) {
        guard let link else { return }
        let limit = call.isOfStart ? limits.start : time
        let id = pending.add(
            call.name, limit: limit, isRequest: call.isRequest, takesValues: call.takesValues,
            at: .now, asking: call.asked, done)
        link.send(id, call)
        setTimer()
    }

    /// Passes an answer to the call that it belongs to; throws if that is not the oldest call.
    func answered(_ id: Int, _ answer: WorkerAnswer) throws(WireError) {
        guard let answered = pending.answered(id, at: .now) else {
            throw WireError(expected: "the answer to another call", found: "\(id)")
        }
        if answered.took >= limits.slow { logSlow(answered) }
        answered.call.done(answer)
        // The next one may be due before the timer that was set for this one.
        setTimer()
    }

    private func logSlow(_ answered: PendingCalls.Answered) {
        logger.log(
            .callSlow,
            [
                "call": "\(answered.call.name)",
                "reason": "\(answered.words(behind: pending.count, setting))",
            ])
    }

    /// A weak reference, so that a timer does not keep the calls alive.
    private struct Reference {
        weak var calls: WorkerCalls?
    }
}

// MARK: Time

extension WorkerCalls {
    /// Pauses reading from the worker, or ends one of the reasons to pause.
    func setReadingPaused(_ isPaused: Bool) {
        let now = ContinuousClock.now
        reckonPaused(until: now)
        if pauses.set(isPaused, at: now) { link?.setReadingPaused(pauses.isPaused) }
    }

    /// Subtracts the pauses of reading from the time of the oldest call.
    private func reckonPaused(until now: ContinuousClock.Instant) {
        if let begin = pauses.takeBegin(until: now) { pending.wasPaused(from: begin, to: now) }
    }

    /// Sets the timer for when the oldest call is overdue.
    private func setTimer() {
        guard let deadline = pending.deadline else { return }
        let calls = NIOLoopBound(Reference(calls: self), eventLoop: loop)
        timer.set(deadline, on: loop) { calls.value.calls?.lookAtTime() }
    }

    private func lookAtTime() {
        timer.end()
        guard isOpen else { return }
        let now = ContinuousClock.now
        // The answer may be among the messages that were not read yet.
        reckonPaused(until: now)
        guard let overdue = pending.overdue(at: now) else { return setTimer() }
        isOverdue(overdue)
    }
}
