import AtriumKit

/// How far the start of a slot's component has come, how often it failed, and whether it still gets on.
///
/// It calls nobody: what is to be called is handed out.
struct StartProgress {
    /// The number of the start: tells its callbacks from those of an earlier one.
    private(set) var attempt = 0
    /// When the component's records began to be read, as a number of the domain; nil: they did not.
    private var readAt: UInt64?
    /// What calls are answered that do not wait any more, since the start shows no progress.
    private(set) var stall: String?

    /// Who waits for this start.
    private var done: ((StartFailure?) -> Void)?
    /// Who is called when it shows no progress; it may still come to its end.
    private var whenStalled: (() -> Void)?
    /// Why the component was lost between its load and its part in the container.
    private var earlyLoss: String?
    /// Ends and failed starts in a row without an answer in between.
    private(set) var failures = 0
    /// Workers in a row that a call has ended, without an answer in between.
    private var poisonings = 0
    /// What the component went through since the first time that it was made.
    private(set) var restarts: ComponentRestarts?
    /// Whether it has failed so often that calls do not wait for it.
    private(set) var isIll = false
    /// Whether the component was part of its container before.
    private(set) var wasStarted = false
    /// Gives the component up, while it is being made.
    private var launching: LaunchCancellation?
    /// The permission to be made, while it is.
    private var turn: StartTurns.Turn?
    /// What the component raised before it was part of the container.
    private var early = EarlyEvents()
    private var watch = StartWatch()
}

// MARK: Attempts

extension StartProgress {
    /// Another start begins, or the present one ends: what is called back for it counts no more.
    mutating func begin() -> Int {
        attempt += 1
        return attempt
    }

    /// The component's records are read from the store from now on, of which this is the number.
    mutating func read(at number: UInt64) { readAt = number }

    /// The component is let go, and with it what it has read.
    mutating func forgetRead() { readAt = nil }

    /// Whether the component may hold records that were in the store before this number was given.
    func hasRead(before number: UInt64) -> Bool { readAt.map { $0 < number } ?? false }

    /// The slot is closed: nobody waits for a start.
    mutating func end() {
        attempt += 1
        done = nil
        whenStalled = nil
    }

    /// The component is being made.
    ///
    /// - Parameter cancel: gives it up.
    mutating func launch(_ cancel: @escaping LaunchCancellation) { launching = cancel }

    /// What gives the component up that is being made, once; nil: none is.
    mutating func takeLaunching() -> LaunchCancellation? {
        defer { launching = nil }
        return launching
    }

    /// The component is there, and is loaded next.
    ///
    /// - Parameter done: who is called when it was.
    mutating func load(then done: @escaping (StartFailure?) -> Void) { self.done = done }

    /// Who waits for the end of the start, once; nil: nobody does.
    mutating func takeDone() -> ((StartFailure?) -> Void)? {
        defer { done = nil }
        return done
    }

    mutating func hold(_ turn: StartTurns.Turn) { self.turn = turn }

    /// The permission to be made, to be ended; nil: there is none.
    mutating func takeTurn() -> StartTurns.Turn? {
        defer { turn = nil }
        return turn
    }
}

// MARK: Failures

extension StartProgress {
    /// Calls in a row that may end workers until the component counts as ill, and not the calls.
    private static let mostPoisonings = 8

    /// Counts an end, or a start that failed.
    ///
    /// - Returns: how many did in a row.
    mutating func fail() -> Int {
        failures += 1
        return failures
    }

    /// The component is to be started again.
    mutating func pause(until next: Timestamp, because cause: String) {
        var restarts = self.restarts ?? ComponentRestarts(cause: cause)
        restarts.count += 1
        restarts.failures = failures
        restarts.cause = cause
        restarts.next = next
        self.restarts = restarts
    }

    /// It was a call that ended the worker: the component is well.
    mutating func blameCall() {
        poisonings += 1
        if poisonings <= Self.mostPoisonings { failures = 0 }
    }

    /// The component has answered, or somebody wants it to be tried anew.
    mutating func forgetFailures() {
        failures = 0
        poisonings = 0
        restarts?.failures = 0
    }

    /// Calls do not wait for it any more.
    ///
    /// - Returns: whether that is new.
    mutating func becomeIll() -> Bool {
        defer { isIll = true }
        return !isIll
    }

    /// The component has started: calls wait for it again, and no start is due.
    mutating func recover() {
        isIll = false
        wasStarted = true
        restarts?.next = nil
    }

    /// The component was lost when it was loaded, and nobody waited for that.
    mutating func loseEarly(because reason: String) { earlyLoss = reason }

    /// Why it was lost, once; nil: it was not.
    mutating func takeEarlyLoss() -> String? {
        defer { earlyLoss = nil }
        return earlyLoss
    }

    /// Keeps what the component raised.
    ///
    /// - Returns: whether there is room; false once, when there is none any more.
    mutating func take(_ events: [ComponentEvent], atMost limit: Int) -> Bool {
        early.take(events, atMost: limit)
    }

    /// What the component raised, once.
    mutating func takeEvents() -> [ComponentEvent] { early.takeAll() }
}

// MARK: Standing still

extension StartProgress {
    /// What to do when its timer has fired.
    enum Look {
        /// It still waits for the component: look again.
        case again
        /// It does not wait.
        case over
        /// Nothing came since.
        case stalled
    }

    /// The start waits for the component from now on.
    ///
    /// - Returns: whether a timer is to be set.
    mutating func awaitAnswer() -> Bool { watch.awaitAnswer() }

    /// The component has answered, or nobody waits for it any more.
    mutating func endAwaiting() { watch.end() }

    /// What ``look(since:)`` is called with when the timer has fired.
    var seen: UInt64 { watch.seen }

    /// The timer has fired.
    mutating func look(since seen: UInt64) -> Look { watch.look(since: seen) }

    /// Sets who is called when the start shows no progress.
    mutating func whenStalled(_ body: @escaping () -> Void) { whenStalled = body }

    /// Nobody is called any more when it shows no progress.
    mutating func forgetStalled() { whenStalled = nil }

    /// Who is to be called now that it shows none; nil: nobody.
    mutating func takeStalled() -> (() -> Void)? {
        defer { whenStalled = nil }
        return whenStalled
    }

    /// Calls do not wait any more.
    mutating func stall(because reason: String) { stall = reason }

    /// It has come to its end.
    ///
    /// - Returns: whether calls had ceased to wait.
    mutating func endStall() -> Bool {
        defer { stall = nil }
        return stall != nil
    }
}

/// Notices when a component's start waits for the component and that shows no progress.
///
/// One timer while there is something to wait for, however many answers that takes.
private struct StartWatch {
    /// Grows with each question and each answer.
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
