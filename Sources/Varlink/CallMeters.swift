internal import CoreMetrics
internal import Glibc

/// Counts and times the calls of a server, by method and outcome.
///
/// What is recorded with is resolved once, when the method table is made: a call finds its meters by
/// the method's place. Only an error, which is rare, looks for its name.
///
/// Unchecked: what changes is guarded by the event loop, on which alone it is touched.
final class CallMeters: @unchecked Sendable {
    /// The most errors that are told apart for a method: those passed on may have any name.
    private static let mostErrors = 32

    private let metrics: VarlinkMetrics
    private let methods: [Meter]

    /// One method's.
    ///
    /// Unchecked: as the whole.
    private final class Meter: @unchecked Sendable {
        let name: String
        /// Nil for the methods that there are not.
        let answered: Counter?
        let seconds: Timer
        var errors: [(name: String, count: Counter)] = []

        init(_ name: String, answered: Counter?, seconds: Timer) {
            self.name = name
            self.answered = answered
            self.seconds = seconds
        }
    }

    /// Meters for the methods of a table, in its order, and one for all that there are not.
    init(_ methods: [String], _ metrics: VarlinkMetrics) {
        self.metrics = metrics
        func meter(_ name: String, answered: Counter?) -> Meter {
            Meter(
                name, answered: answered,
                seconds: Timer(
                    label: "\(metrics.prefix)_call_seconds", dimensions: [("method", name)],
                    factory: metrics.factory))
        }
        self.methods =
            methods.map { meter($0, answered: Self.counter(metrics, $0, outcome: "ok")) }
            + [meter("unknown", answered: nil)]
    }

    /// Nanoseconds of a clock that never goes back.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// A call has its reply, or the first of several; or fails with an error of this name.
    func record(_ slot: CallSlot, error: String?) {
        let meter = methods[Int(slot.method)]
        meter.seconds.recordNanoseconds(Self.now() &- slot.started)
        if let error { count(error, of: meter) } else { meter.answered?.increment() }
    }

    /// A call's connection ended before its reply.
    func drop(_ method: UInt16) { count("dropped", of: methods[Int(method)]) }

    private func count(_ outcome: String, of meter: Meter) {
        if let known = meter.errors.first(where: { $0.name == outcome }) {
            return known.count.increment()
        }
        guard meter.errors.count < Self.mostErrors else { return count("other", of: meter) }
        let name = meter.errors.count == Self.mostErrors - 1 ? "other" : outcome
        let counter = Self.counter(metrics, meter.name, outcome: name)
        meter.errors.append((name, counter))
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
