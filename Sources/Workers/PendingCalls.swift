/// The calls that a worker has not answered: in order, and each timed.
///
/// A worker does one thing after another, so a call's time begins when it is sent or, if later, when
/// the call before it was answered.
struct PendingCalls {
    /// A call without its answer.
    struct Call {
        let id: Int
        let name: String
        /// How long it may take.
        let limit: Duration
        /// Whether somebody waits for what it answers.
        let isRequest: Bool
        let sent: ContinuousClock.Instant
        let done: (WorkerAnswer) -> Void
    }

    /// The call that takes longer than it may.
    struct Overdue: Equatable {
        let name: String
        let elapsed: Duration
        let limit: Duration
    }

    /// A call with its answer.
    struct Answered {
        let call: Call
        /// How long it waited for those before it, and how long it took then.
        let waited: Duration
        let took: Duration

        /// How long it took, and what waited for what, in words.
        ///
        /// - Parameters:
        ///   - count: how many calls waited behind it.
        ///   - setting: where it is set how long one may take.
        /// - Returns: two sentences.
        func words(behind count: Int, _ setting: String) -> String {
            "The call took \(took), of \(call.limit) that one may take (\(setting)); \(count) "
                + "waited behind it. Before that it waited \(waited) for those before it."
        }
    }

    private var calls: [Int: Call] = [:]
    private var first = 1
    private var next = 1
    private var lastAnswer: ContinuousClock.Instant?
    /// How long nothing that the worker said was read since the oldest call began.
    private var held = Duration.zero

    var isEmpty: Bool { first == next }

    var count: Int { next - first }

    /// The call that the worker is at; nil: it is at none.
    var present: Call? { calls[first] }

    /// Takes a call in and gives its id.
    mutating func add(
        _ name: String, limit: Duration, isRequest: Bool = true, at now: ContinuousClock.Instant,
        _ done: @escaping (WorkerAnswer) -> Void
    ) -> Int {
        defer { next += 1 }
        calls[next] = Call(
            id: next, name: name, limit: limit, isRequest: isRequest, sent: now, done: done)
        return next
    }

    /// The call that an answer belongs to; nil when it is not the one whose turn it is.
    mutating func answered(_ id: Int, at now: ContinuousClock.Instant) -> Answered? {
        guard id == first, let begin, let call = calls.removeValue(forKey: id) else { return nil }
        first += 1
        lastAnswer = now
        held = .zero
        return Answered(call: call, waited: begin - call.sent, took: now - begin)
    }

    /// Nothing that the worker said was read for a while: its answer may be among that.
    ///
    /// This time does not count, up to as much as a call may take: who goes on saying things, and does
    /// not answer, is overdue all the same.
    mutating func wasHeld(
        from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) {
        guard let begin else { return }
        held += max(.zero, end - max(start, begin))
    }

    /// When the oldest call has taken as long as it may; nil without calls.
    var deadline: ContinuousClock.Instant? {
        guard let begin, let limit = calls[first]?.limit else { return nil }
        return begin + limit + min(held, limit)
    }

    /// The oldest call, when it has taken as long as it may.
    func overdue(at now: ContinuousClock.Instant) -> Overdue? {
        guard let call = calls[first], let begin, let deadline, now >= deadline
        else { return nil }
        return Overdue(name: call.name, elapsed: now - begin, limit: call.limit)
    }

    /// Forgets all calls.
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
