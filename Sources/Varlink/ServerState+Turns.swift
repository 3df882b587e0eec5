internal import Glibc
internal import NIOCore

// Between two looks at the sockets, calls are started for a moment (``StartBudget``), and connections that have
// something to say take their turns for another. What is left of both goes on after the loop has polled.
extension ServerState {
    /// Gives a connection a turn of its own, after whatever runs now has returned, and after those that
    /// asked before.
    func schedule(_ connection: Connection) {
        turns.waiting.append(connection)
        guard !turns.isRoundToCome else { return }
        turns.isRoundToCome = true
        eventLoop.execute { [self] in takeTurns() }
    }

    /// A round: those that wait take their turns; those that ask meanwhile come in the next.
    private func takeTurns() {
        var count = turns.waiting.count
        var now = StartBudget.now()
        while count > 0, turns.used <= turns.most, let connection = turns.waiting.popFirst() {
            count -= 1
            connection.takeTurn()
            let end = StartBudget.now()
            turns.used += end - now
            now = end
        }
        if turns.waiting.isEmpty {
            turns.isRoundToCome = false
        } else if turns.used <= turns.most {
            eventLoop.execute { [self] in takeTurns() }
        } else {
            goOnAfterPoll()
        }
    }

    /// Has a connection go on with its calls later: once the loop has polled, and after those that
    /// were put off before.
    func putOff(_ connection: Connection) {
        connection.putOff()
        line.append(connection)
        goOnAfterPoll()
    }

    private func goOnAfterPoll() {
        nextPoll.run { [weak self] in self?.goOn() }
    }

    /// The loop has polled: answers that were left go out, and connections that were put off start calls, each as
    /// far as it may.
    private func goOn() {
        let isRoundLeft = turns.used > turns.most && turns.isRoundToCome
        turns.used = 0
        budget.renew()
        if isRoundLeft { takeTurns() }
        var count = line.count
        while count > 0, budget.isLeft, let connection = line.popFirst() {
            count -= 1
            connection.goOn()
        }
        if !line.isEmpty { goOnAfterPoll() }
    }
}

/// Connections that have something to do, and how long they have been at it.
struct ConnectionTurns {
    /// They take their turns in this order.
    var waiting: CircularBuffer<Connection> = []
    /// Whether a round that gives them these turns is scheduled.
    var isRoundToCome = false
    /// Nanoseconds that turns took since the loop was asked to poll.
    var used: Int64 = 0
    /// Nanoseconds after which the rest waits until the loop has polled.
    let most: Int64
}

/// How long calls are started before the event loop polls for other events.
///
/// A call is short, and thousands of them may have arrived at once: together they would delay all other
/// connections. So a connection starts calls for a moment, all of them together for a somewhat longer one; then
/// those that have more wait in line until the loop has polled (``ServerState/putOff(_:)``).
///
/// Time is only summed up, whenever it was used: the loop does not report when it polls by itself, and an
/// extra poll once in a while costs nothing.
struct StartBudget {
    /// The most calls that are started between two looks at the clock.
    private static let callsPerLook = 16

    /// Nanoseconds of all connections together.
    private let ofAll: Int64
    /// Nanoseconds of one connection.
    private let ofOne: Int64

    private var spent: Int64 = 0
    /// When the connection began whose calls are being started.
    private(set) var began: Int64 = 0
    /// How many calls that connection has started.
    private var calls = 0

    /// - Parameter time: what all connections may use together; one of them a tenth of it.
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
        // After the first, in case it is a dear one, then after twice as many.
        let isLook = calls & (calls - 1) == 0 || calls % Self.callsPerLook == 0
        guard calls > 0, isLook else { return true }
        let time = Self.now() - began
        return time <= ofOne && spent + time <= ofAll
    }

    /// The connection starts no more.
    ///
    /// - Returns: How long it took, in nanoseconds.
    mutating func end() -> Int64 {
        let time = Self.now() - began
        spent += time
        return time
    }

    /// The loop has polled.
    mutating func renew() { spent = 0 }

    /// Nanoseconds of a clock that never goes back.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
