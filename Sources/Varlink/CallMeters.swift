internal import CoreMetrics
internal import LogMessages

/// Counts and times the calls of a server, by method and outcome.
///
/// The meters are looked up once, when the method table is made: a call finds its own by the method's index. Only an
/// error, which is rare, is looked up by its name.
///
/// Calls that arrived together are timed together, because reading the clock costs as much as a hundred instructions of
/// theirs. They were read at once, and the replies made in that turn are sent at its end, so each call took as long as
/// all of them.
///
/// Unchecked: the mutable state is used only on the event loop.
final class CallMeters: @unchecked Sendable {
    /// The most error names that are counted separately for a method: forwarded errors may have any name.
    private static let mostErrors = 32

    private let metrics: VarlinkMetrics
    private let names: [String]
    private let turns: TurnNotes?

    // By the method's index: in arrays, because an object for each method would be retained and
    // released with every call.
    private let seconds: [Timer]
    private let answered: [Counter]
    private var errors: [[(name: String, count: Counter)]]

    /// The start of the turn in which calls are being started, in nanoseconds; 0 before the first call.
    @exclusivity(unchecked) private var turn: Int64 = 0
    /// The methods of the calls that were started in it.
    @exclusivity(unchecked) private var startedInTurn: UInt128 = 0
    /// The methods of the calls that it has answered, by their places.
    @exclusivity(unchecked) private var answeredInTurn: ContiguousArray<UInt16> = []

    /// Creates meters for the methods of a table, in its order, and one for unknown methods.
    init(_ methods: [String], _ metrics: VarlinkMetrics) {
        self.metrics = metrics
        turns = metrics.turns
        names = methods + ["unknown"]
        seconds = names.map {
            Timer(
                label: "\(metrics.prefix)_call_seconds", dimensions: [("method", $0)],
                factory: metrics.factory)
        }
        answered = methods.map { Self.counter(metrics, $0, outcome: "ok") }
        errors = names.map { _ in [] }
        turns?.methods = names
    }

    /// A call was read that is about to be started, by a connection that began to at that time.
    func turnStart(at began: Int64) -> Int64 {
        if turn == 0 {
            turn = began
            turns?.begin(at: turn)
        }
        return turn
    }

    /// A call is started of the method at this place.
    func start(_ method: UInt16) { startedInTurn |= TurnNotes.Calls.bit(of: method) }

    /// A stream of the method at this place is about to be written to.
    func write(_ method: UInt16, _ peer: Peer) {
        guard let turns else { return }
        turns.work.insert(.stream)
        turns.stream.methods = TurnNotes.Calls.bit(of: method)
        turns.stream.uid = peer.uid
        turns.stream.pid = peer.pid
    }

    /// Records the calls of a turn, whose starting took `time` nanoseconds; their replies are sent now.
    func endTurn(_ peer: Peer, after time: Int64) {
        guard turn != 0 else { return }
        if let turns {
            var calls = TurnNotes.Calls()
            calls.methods = startedInTurn
            calls.uid = peer.uid
            calls.pid = peer.pid
            calls.nanoseconds = time
            turns.end(calls)
        }
        startedInTurn = 0
        for method in answeredInTurn { seconds[Int(method)].recordNanoseconds(time) }
        answeredInTurn.removeAll(keepingCapacity: true)
        turn = 0
    }

    /// A call has its reply, or the first of several; or fails with an error of this name.
    func record(_ slot: CallSlot, error: String?) {
        let method = Int(slot.method)
        if slot.started == turn, turn != 0 {
            answeredInTurn.append(slot.method)
        } else {
            seconds[method].recordNanoseconds(StartBudget.now() &- slot.started)
        }
        if let error { count(error, of: method) } else { answered[method].increment() }
    }

    /// A call's connection ended before its reply.
    func drop(_ method: UInt16) { count("dropped", of: Int(method)) }

    private func count(_ outcome: String, of method: Int) {
        if let known = errors[method].first(where: { $0.name == outcome }) {
            return known.count.increment()
        }
        guard errors[method].count < Self.mostErrors else { return count("other", of: method) }
        let name = errors[method].count == Self.mostErrors - 1 ? "other" : outcome
        let counter = Self.counter(metrics, names[method], outcome: name)
        errors[method].append((name, counter))
        counter.increment()
    }

    private static func counter(
        _ metrics: VarlinkMetrics, _ method: String, outcome: String
    ) -> Counter {
        Counter(
            label: "\(metrics.prefix)_calls_total",
            dimensions: [("method", method), ("outcome", outcome)], factory: metrics.factory)
    }
}
