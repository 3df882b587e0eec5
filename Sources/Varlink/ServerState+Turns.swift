internal import Glibc
internal import NIOCore

// Between two looks at the sockets, calls are started for a moment (``StartBudget``), and connections that have
// something to say take their turns for another. What is left of both goes on after the loop has polled.
extension ServerState {
    /// Schedules a turn of a connection's own, after the code that runs now has returned, and after the turns scheduled
    /// before.
    func schedule(_ connection: Connection) {
        turns.waiting.append(connection)
        guard !turns.isRoundToCome else { return }
        turns.isRoundToCome = true
        runRound()
    }

    /// Schedules a round of turns after the code that runs now, and before the loop polls.
    private func runRound() {
        guard !turns.isRoundNext else { return }
        turns.isRoundNext = true
        eventLoop.execute { [self] in takeTurns() }
    }

    /// Runs one round: waiting connections run; those that queue meanwhile run in the next.
    private func takeTurns() {
        turns.isRoundNext = false
        // Notifications are written to a few subscribers before the publisher's reply; with more, the reply comes first.
        if turns.waiting.count > Self.few { sendHeld() }
        var count = turns.waiting.count
        var now = count > 0 ? StartBudget.now() : 0
        while count > 0, turns.used <= turns.most, let connection = turns.waiting.popFirst() {
            count -= 1
            connection.takeTurn()
            let end = StartBudget.now()
            turns.used += end - now
            now = end
        }
        sendHeld()
        if turns.waiting.isEmpty {
            turns.isRoundToCome = false
        } else if turns.used <= turns.most {
            runRound()
        } else {
            schedulePostponed()
        }
    }

    /// The most connections whose turns come before replies that are held.
    private static var few: Int { 4 }

    /// Decides whether the replies of a connection that has just read are sent after those of others were made,
    /// still before the loop polls.
    ///
    /// Each write may wake its reader. Where many clients share few processors, readers that are woken one by one
    /// take turns with this loop, which costs both more than the calls do. So replies are written one after
    /// the other, unless calls come from one connection alone.
    ///
    /// - Returns: Whether they are; if not, the connection sends them.
    func holdReplies(of connection: Connection) -> Bool {
        let isAlone = turns.lastReader == connection.number && !turns.isRoundToCome
        turns.lastReader = connection.number
        guard !isAlone else { return false }
        if turns.held.isEmpty {
            turns.heldSince = budget.began
        } else if budget.ended - turns.heldSince > ConnectionTurns.longestHold {
            sendHeld()
            return false
        }
        turns.held.append(connection)
        runRound()
        return true
    }

    /// Sends replies that were held too long; called at the end of each read.
    func sendOverdue() {
        guard !turns.held.isEmpty,
            StartBudget.now() - turns.heldSince > ConnectionTurns.longestHold
        else { return }
        sendHeld()
    }

    private func sendHeld() {
        while let connection = turns.held.popFirst() { connection.finishTurn() }
    }

    /// Postpones a connection's further calls until its user's turn comes again: after the loop has polled, or in what
    /// is left of the time until then.
    func postpone(_ connection: Connection) {
        connection.turn.postpone()
        postponed.append(connection, of: connection.peer.uid)
        schedulePostponed()
    }

    private func schedulePostponed() {
        nextPoll.run { [weak self] in self?.runPostponed() }
    }

    /// Continues after a poll: sends the remaining replies, and lets postponed connections start calls, each as far as
    /// it may.
    private func runPostponed() {
        sendHeld()
        let isRoundLeft = turns.used > turns.most && turns.isRoundToCome
        turns.used = 0
        budget.renew()
        if isRoundLeft { takeTurns() }
        var count = postponed.count
        while count > 0, budget.isLeft, let connection = postponed.popFirst() {
            count -= 1
            connection.runPostponed()
        }
        if !postponed.isEmpty { schedulePostponed() }
    }
}

/// Connections that have something to do, and how long they have been at it.
struct ConnectionTurns {
    /// The connections that wait for their turns, in this order.
    var waiting: CircularBuffer<Connection> = []
    /// Whether a round that gives them these turns is scheduled.
    var isRoundToCome = false
    /// Whether a round runs before the loop polls.
    var isRoundNext = false
    /// Connections whose replies are held: they are written after the reads of this poll.
    var held: CircularBuffer<Connection> = []
    /// The time at which the first of them began to start calls, in nanoseconds.
    var heldSince: Int64 = 0
    /// The number of the connection that was replied to last at the end of a read.
    var lastReader: UInt64 = 0
    /// The maximum time for which replies are held, in nanoseconds, apart from the calls of one read.
    static let longestHold: Int64 = 200_000
    /// The most bytes of replies that are held.
    static var mostHeld: Int { 16 << 10 }
    /// The time that turns took since the last request for a poll, in nanoseconds.
    var used: Int64 = 0
    /// The time in nanoseconds after which the rest waits until the loop has polled.
    let most: Int64
}

/// The time for which calls are started before the event loop polls for other events.
///
/// A call is short, but thousands may arrive at once, and together they would delay all other connections. So one
/// connection starts calls for a moment, and all connections together for somewhat longer. Those that have more then
/// wait in line until the loop has polled (``ServerState/postpone(_:)``).
///
/// The time is only summed up, in whichever turn it was used: the loop does not report when it polls by itself, and an
/// extra poll once in a while costs nothing.
struct StartBudget {
    /// The maximum number of calls that are started between two readings of the clock.
    private static let callsPerLook = 16

    /// The time of all connections together, in nanoseconds.
    private let ofAll: Int64
    /// The time of one connection, in nanoseconds.
    private let ofOne: Int64

    private var spent: Int64 = 0
    /// The time at which the connection whose calls are being started began, in nanoseconds.
    private(set) var began: Int64 = 0
    /// The time at which it had started its calls, in nanoseconds.
    private(set) var ended: Int64 = 0
    /// The number of calls that this connection has started.
    private var calls = 0

    /// - Parameter time: The time that all connections may use together; one of them may use a tenth of it.
    init(_ time: Duration) {
        ofAll = TimeAmount(time).nanoseconds
        ofOne = ofAll / 10
    }

    /// Whether a connection may still start calls.
    var isLeft: Bool { spent <= ofAll }

    /// A connection begins to start calls.
    mutating func begin() {
        began = Self.now()
        calls = 0
    }

    /// Whether the connection that has begun may start one more call.
    mutating func takeCall() -> Bool {
        guard isLeft else { return false }
        defer { calls += 1 }
        // After the first, in case it is an expensive one, then after twice as many.
        let isLook = calls & (calls - 1) == 0 || calls % Self.callsPerLook == 0
        guard calls > 0, isLook else { return true }
        let time = Self.now() - began
        return time <= ofOne && spent + time <= ofAll
    }

    /// Ends the connection's turn, so that it starts no more calls; returns the time that the turn took, in
    /// nanoseconds.
    mutating func end() -> Int64 {
        ended = Self.now()
        let time = ended - began
        spent += time
        return time
    }

    /// The loop has polled.
    mutating func renew() { spent = 0 }

    /// Returns the time of a monotonic clock, in nanoseconds.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
