import CoreMetrics
import Synchronization

/// What an instrument counts in.
protocol Cell: AnyObject, Sendable {
    /// What it holds; nil for what would say nothing.
    var reading: MetricSample.Value? { get }
}

/// A number that only grows: one addition without a lock.
final class CounterCell: CounterHandler, Cell {
    private let count = Atomic<Int64>(0)

    var reading: MetricSample.Value? { .number(Double(count.load(ordering: .relaxed))) }

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { count.store(0, ordering: .relaxed) }
}

/// A number that goes up and down.
final class GaugeCell: MeterHandler, RecorderHandler, Cell {
    /// A floating-point number's bits.
    private let bits = Atomic<UInt64>(0)

    var reading: MetricSample.Value? {
        .number(Double(bitPattern: bits.load(ordering: .relaxed)))
    }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func increment(by amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let next = (Double(bitPattern: seen) + amount).bitPattern
            let result = bits.weakCompareExchange(
                expected: seen, desired: next, ordering: .relaxed)
            guard !result.exchanged else { return }
            seen = result.original
        }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    func record(_ value: Int64) { set(value) }

    func record(_ value: Double) { set(value) }
}

/// How often something was how big: recording is a search among few bounds and two additions, without
/// a lock and without memory of its own.
final class HistogramCell: TimerHandler, RecorderHandler, Cell {
    private let buckets: Buckets
    /// The buckets' bounds, and then one that nothing is above: in place, so that no search counts a
    /// reference.
    private let bounds: InlineArray<24, Int64>
    /// How many values fell into each bucket; those without a bound are never touched.
    private let counts: InlineArray<24, Atomic<Int>>
    private let sum = Atomic<Int64>(0)

    init(_ buckets: Buckets) {
        precondition(buckets.bounds.count <= Buckets.most, "too many buckets")
        self.buckets = buckets
        bounds = InlineArray { $0 < buckets.bounds.count ? buckets.bounds[$0] : .max }
        counts = InlineArray { _ in Atomic(0) }
    }

    func record(_ value: Int64) {
        var place = 0
        // Most values are small: from the small end, few bounds are looked at.
        while value > bounds[place] { place += 1 }
        counts[place].wrappingAdd(1, ordering: .relaxed)
        sum.wrappingAdd(value, ordering: .relaxed)
    }

    func recordNanoseconds(_ duration: Int64) { record(duration) }

    /// To the whole number, of which counts consist; what is none is dropped.
    func record(_ value: Double) {
        if let value = Int64(exactly: value.rounded()) { record(value) }
    }

    /// What it holds: the count is that of the buckets, also while others record.
    var reading: MetricSample.Value? {
        var total = 0
        let read = buckets.bounds.enumerated().map { place, bound in
            total += counts[place].load(ordering: .relaxed)
            return HistogramReading.Bucket(upTo: Double(bound) / buckets.divisor, count: total)
        }
        total += counts[buckets.bounds.count].load(ordering: .relaxed)
        guard total > 0 else { return nil }
        return .histogram(
            HistogramReading(
                buckets: read, count: total,
                sum: Double(sum.load(ordering: .relaxed)) / buckets.divisor))
    }
}
