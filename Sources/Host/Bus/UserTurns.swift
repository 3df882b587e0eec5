import DequeModule

/// A queue in which users take turns: one piece of work for each turn, in a user's own order.
struct UserTurns<Work> {
    private var waiting: [String: Deque<Work>] = [:]
    /// The users who have waiting work, in the order of their turns.
    private var turns: Deque<String> = []

    /// Whether no work is waiting.
    var isEmpty: Bool { turns.isEmpty }

    /// Adds work, which waits for its user's turn.
    mutating func append(_ work: Work, of user: String) {
        if waiting[user] == nil { turns.append(user) }
        waiting[user, default: []].append(work)
    }

    /// Removes and returns the next work; its user's next turn comes after those of all others.
    mutating func popFirst() -> Work? {
        guard let user = turns.popFirst(), let work = waiting[user]?.popFirst() else { return nil }
        if waiting[user]?.isEmpty == true { waiting[user] = nil } else { turns.append(user) }
        return work
    }
}
