import AtriumKit

/// The progress of a component's start, its failures, and whether it is stalled.
///
/// It calls no callback: it returns them to the slot, which does.
struct StartProgress {
    /// The number of the start, by which callbacks of earlier starts are recognised.
    private(set) var attempt = 0
    /// The domain's number when the component's records began to be read; nil: they did not.
    private var readAt: UInt64?
    /// The reason for refusing calls while the start is stalled; nil: it is not.
    private(set) var stall: String?

    /// Called when this start ends.
    private var done: ((StartFailure?) -> Void)?
    /// Called when the start stalls; it may still succeed afterwards.
    private var whenStalled: (() -> Void)?
    /// Why the component was lost after its load and before it was attached.
    private var earlyLoss: String?
    /// The number of ends and failed starts in a row, without an answer in between.
    private(set) var failures = 0
    /// The number of workers in a row that were ended by calls, without an answer in between.
    private var poisonings = 0
    /// The restarts of the component since it was first made.
    private(set) var restarts: ComponentRestarts?
    /// Whether it has failed so often that calls don't wait for it.
    private(set) var isIll = false
    /// Whether the component was attached before.
    private(set) var wasStarted = false
    /// Cancels the launch that is under way.
    private var launching: LaunchCancellation?
    /// The permission to launch, while the launch is under way.
    private var turn: StartTurns.Turn?
    /// The events that the component sent before it was attached.
    private var early = EarlyEvents()
    private var watch = StartWatch()
}

// MARK: Attempts

extension StartProgress {
    /// Begins another start, or ends the present one: callbacks of earlier ones are ignored from now on.
    mutating func begin() -> Int {
        attempt += 1
        return attempt
    }

    /// Notes that the component's records are read from now on, at this number of the domain.
    mutating func read(at number: UInt64) { readAt = number }

    /// Notes that the component and what it has read are gone.
    mutating func forgetRead() { readAt = nil }

    /// Whether the component may hold records that were in the store before this number was given.
    func hasRead(before number: UInt64) -> Bool { readAt.map { $0 < number } ?? false }

    /// Ends all starts, because the slot is closed.
    mutating func end() {
        attempt += 1
        done = nil
        whenStalled = nil
    }

    /// Notes that the component is being launched.
    ///
    /// - Parameter cancel: cancels the launch.
    mutating func launch(_ cancel: @escaping LaunchCancellation) { launching = cancel }

    /// Returns, once, the function that cancels the launch; nil: none is under way.
    mutating func takeLaunching() -> LaunchCancellation? {
        defer { launching = nil }
        return launching
    }

    /// Notes that the component is launched, and is loaded next.
    ///
    /// - Parameter done: called when it is loaded.
    mutating func load(then done: @escaping (StartFailure?) -> Void) { self.done = done }

    /// Returns, once, the callback for the end of the start; nil: there is none.
    mutating func takeDone() -> ((StartFailure?) -> Void)? {
        defer { done = nil }
        return done
    }

    mutating func hold(_ turn: StartTurns.Turn) { self.turn = turn }

    /// Returns, once, the permission to launch, for the caller to end it; nil: there is none.
    mutating func takeTurn() -> StartTurns.Turn? {
        defer { turn = nil }
        return turn
    }
}

// MARK: Failures

extension StartProgress {
    /// The number of workers in a row that calls may end before the component, and not the calls, is blamed.
    private static let mostPoisonings = 8

    /// Counts an end, or a failed start.
    ///
    /// - Returns: the number of failures in a row.
    mutating func fail() -> Int {
        failures += 1
        return failures
    }

    /// Notes when and why the component is started again.
    mutating func pause(until next: Timestamp, because cause: String) {
        var restarts = self.restarts ?? ComponentRestarts(cause: cause)
        restarts.count += 1
        restarts.failures = failures
        restarts.cause = cause
        restarts.next = next
        self.restarts = restarts
    }

    /// Notes that a call ended the worker, so that the component is not to blame.
    mutating func blameCall() {
        poisonings += 1
        if poisonings <= Self.mostPoisonings { failures = 0 }
    }

    /// Forgets the failures, because the component has answered or somebody needs it.
    mutating func forgetFailures() {
        failures = 0
        poisonings = 0
        restarts?.failures = 0
    }

    /// Notes that calls don't wait for the component any more.
    ///
    /// - Returns: whether they did before.
    mutating func becomeIll() -> Bool {
        defer { isIll = true }
        return !isIll
    }

    /// Notes that the component is attached: calls wait for it again, and no start is scheduled.
    mutating func recover() {
        isIll = false
        wasStarted = true
        restarts?.next = nil
    }

    /// Notes that the component was lost after its load, when no callback was left.
    mutating func loseEarly(because reason: String) { earlyLoss = reason }

    /// Returns, once, why it was lost so; nil: it was not.
    mutating func takeEarlyLoss() -> String? {
        defer { earlyLoss = nil }
        return earlyLoss
    }

    /// Keeps events that the component sent.
    mutating func keep(_ events: [ComponentEvent]) { early.keep(events) }

    /// Charges the bytes of some of the kept events.
    ///
    /// - Returns: false when there are too many, once; true otherwise.
    mutating func charge(_ events: [ComponentEvent], atMost limit: Int) -> Bool {
        early.charge(events, atMost: limit)
    }

    /// Returns, once, the events that the component sent, by report.
    mutating func takeEvents() -> [[ComponentEvent]] { early.takeAll() }
}

// MARK: Stalled starts

extension StartProgress {
    /// What the slot does when the timer has fired.
    enum Look {
        /// The start still waits, and there was progress: start the timer again.
        case again
        /// The start does not wait for the component.
        case over
        /// There was no progress.
        case stalled
    }

    /// Notes that the start waits for the component.
    ///
    /// - Returns: whether to start a timer.
    mutating func awaitAnswer() -> Bool { watch.awaitAnswer() }

    /// Notes that the component has answered, or that the answer is not needed any more.
    mutating func endAwaiting() { watch.end() }

    /// The present count of questions and answers, to be passed to ``look(since:)`` when the timer fires.
    var seen: UInt64 { watch.seen }

    /// Decides what to do when the timer has fired.
    mutating func look(since seen: UInt64) -> Look { watch.look(since: seen) }

    /// Sets the callback for a stall.
    mutating func whenStalled(_ body: @escaping () -> Void) { whenStalled = body }

    /// Removes the callback for a stall.
    mutating func forgetStalled() { whenStalled = nil }

    /// Returns, once, the callback for a stall; nil: there is none.
    mutating func takeStalled() -> (() -> Void)? {
        defer { whenStalled = nil }
        return whenStalled
    }

    /// Notes that the start is stalled, and calls are refused.
    mutating func stall(because reason: String) { stall = reason }

    /// Ends a stall, because the start has ended.
    ///
    /// - Returns: whether it was stalled.
    mutating func endStall() -> Bool {
        defer { stall = nil }
        return stall != nil
    }
}

/// Detects that a component's start waits without progress.
///
/// It uses a single timer, however many questions and answers there are.
private struct StartWatch {
    /// Increases with each question and each answer.
    private(set) var seen: UInt64 = 0
    /// Whether the start waits for the component.
    private var isWaiting = false
    private var isTimed = false

    mutating func awaitAnswer() -> Bool {
        isWaiting = true
        seen += 1
        defer { isTimed = true }
        return !isTimed
    }

    mutating func end() {
        isWaiting = false
        seen += 1
    }

    mutating func look(since seen: UInt64) -> StartProgress.Look {
        guard isWaiting, self.seen == seen else {
            isTimed = isWaiting
            return isWaiting ? .again : .over
        }
        isTimed = false
        return .stalled
    }
}
