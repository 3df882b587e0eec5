/// Whether a connection's next turn is scheduled, and whether it is at work now.
struct TurnState {
    /// Whether handlers run whose replies are sent afterwards anyway.
    private var isInHandlers = false
    private var isScheduled = false

    /// Whether its remaining calls are deferred behind other connections.
    private(set) var isPostponed = false

    /// Asks for a turn; returns whether it is to be scheduled.
    mutating func schedule() -> Bool {
        guard !isScheduled, !isInHandlers else { return false }
        isScheduled = true
        return true
    }

    /// The scheduled turn has come.
    mutating func begin() { isScheduled = false }

    /// Handlers are about to run.
    mutating func beginHandlers() { isInHandlers = true }

    /// They have returned.
    mutating func endHandlers() { isInHandlers = false }

    /// Its further calls wait in line, for others to come first.
    mutating func postpone() { isPostponed = true }

    /// It has come to the front of the line.
    mutating func resume() { isPostponed = false }
}
