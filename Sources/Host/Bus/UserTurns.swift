import DequeModule

/// Work of users who take turns: of each one piece at a time, each user's in the order in which it came.
struct UserTurns<Work> {
    private var waiting: [String: Deque<Work>] = [:]
    /// The users who have work that waits, in the order of their turns.
    private var turns: Deque<String> = []

    /// Whether no work waits.
    var isEmpty: Bool { turns.isEmpty }

    /// Lets a piece of work wait for its user's turn.
    mutating func append(_ work: Work, of user: String) {
        if waiting[user] == nil { turns.append(user) }
        waiting[user, default: []].append(work)
    }

    /// Takes out what is to be done next; its user's next turn comes behind those of all others.
    mutating func popFirst() -> Work? {
        guard let user = turns.popFirst(), let work = waiting[user]?.popFirst() else { return nil }
        if waiting[user]?.isEmpty == true { waiting[user] = nil } else { turns.append(user) }
        return work
    }
}
