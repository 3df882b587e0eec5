internal import Host

/// The calls that a worker has not answered, in order, and the time of each.
///
/// A worker runs one call after the other. So a call's time begins when it is sent or, if that is later, when
/// the call before it was answered.
struct PendingCalls {
    /// A call that is not answered yet.
    struct Call {
        let id: Int
        let name: String
        /// The time that the call may take.
        let limit: Duration
        /// Whether a caller waits for the answer.
        let isRequest: Bool
        /// Whether the component takes values of fields by it.
        let takesValues: Bool
        let sent: ContinuousClock.Instant
        /// The command or query that the answer is checked against; nil: the answer is no decision and answers no
        /// query.
        let asked: AnswerCheck.Asked?
        let done: (WorkerAnswer) -> Void
    }

    /// A call that has taken longer than it may.
    struct Overdue: Equatable {
        let name: String
        let elapsed: Duration
        let limit: Duration
    }

    struct Answered {
        let call: Call
        /// The time that the call waited for earlier calls, and the time that it then took.
        let waited: Duration
        let took: Duration

        /// Describes in two sentences the time that the call took and waited, with the setting that limits a call's
        /// time.
        func words(behind count: Int, _ setting: String) -> String {
            "The call took \(took), of \(call.limit) that one may take (\(setting)); \(count) "
                + "waited behind it. Before that it waited \(waited) for those before it."
        }
    }

    private var calls: [Int: Call] = [:]
    private var first = 1
    private var next = 1
    private var lastAnswer: ContinuousClock.Instant?
    /// The time for which reading from the worker was paused since the oldest call began.
    private var held = Duration.zero

    var isEmpty: Bool { first == next }

    var count: Int { next - first }

    /// The call that the worker is running; nil: none.
    var present: Call? { calls[first] }

    /// The command or query of a call that is not answered yet.
    func asked(_ id: Int) -> AnswerCheck.Asked? { calls[id]?.asked }

    /// Adds a call and returns its id.
    mutating func add(
        _ name: String, limit: Duration, isRequest: Bool = true, takesValues: Bool = false,
        at now: ContinuousClock.Instant, asking asked: AnswerCheck.Asked? = nil,
        _ done: @escaping (WorkerAnswer) -> Void
    ) -> Int {
        defer { next += 1 }
        calls[next] = Call(
            id: next, name: name, limit: limit, isRequest: isRequest, takesValues: takesValues,
            sent: now, asked: asked, done: done)
        return next
    }

    /// Removes the call that an answer belongs to; nil when that is not the oldest call.
    mutating func answered(_ id: Int, at now: ContinuousClock.Instant) -> Answered? {
        guard id == first, let begin, let call = calls.removeValue(forKey: id) else { return nil }
        first += 1
        lastAnswer = now
        held = .zero
        return Answered(call: call, waited: begin - call.sent, took: now - begin)
    }

    /// Subtracts a pause of reading from the oldest call's time, since the answer may be among the unread messages.
    ///
    /// At most the call's limit is subtracted, so that a worker that keeps sending messages and does not answer becomes
    /// overdue at some time.
    mutating func wasPaused(
        from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) {
        guard let begin else { return }
        held += max(.zero, end - max(start, begin))
    }

    /// The time at which the oldest call is overdue; nil without calls.
    var deadline: ContinuousClock.Instant? {
        guard let begin, let limit = calls[first]?.limit else { return nil }
        return begin + limit + min(held, limit)
    }

    /// The oldest call, if it is overdue.
    func overdue(at now: ContinuousClock.Instant) -> Overdue? {
        guard let call = calls[first], let begin, let deadline, now >= deadline
        else { return nil }
        return Overdue(name: call.name, elapsed: now - begin, limit: call.limit)
    }

    /// Removes all calls.
    mutating func removeAll() {
        calls = [:]
        first = next
        held = .zero
    }

    private var begin: ContinuousClock.Instant? {
        guard let sent = calls[first]?.sent else { return nil }
        return max(sent, lastAnswer ?? sent)
    }
}
