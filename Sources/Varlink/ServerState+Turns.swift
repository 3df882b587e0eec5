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
