/// What a metric is: its name, how its numbers behave, and what they mean.
public struct MetricDescription: Sendable, Hashable {
    /// How the numbers behave.
    public enum Kind: String, Sendable, Hashable {
        /// It only grows, from 0 at the start.
        case counter
        /// It goes up and down.
        case gauge
        /// How often something was how big, in fixed buckets.
        case histogram
    }

    /// The name, as Prometheus has them: base units, `_total` for counters.
    public let name: String
    /// How the numbers behave.
    public let kind: Kind
    /// What they mean, in a sentence.
    public let help: String
    /// A histogram's buckets; nil for the others.
    public let buckets: Buckets?

    /// Describes a counter.
    public static func counter(_ name: String, _ help: String) -> MetricDescription {
        MetricDescription(name: name, kind: .counter, help: help, buckets: nil)
    }

    /// Describes a gauge.
    public static func gauge(_ name: String, _ help: String) -> MetricDescription {
        MetricDescription(name: name, kind: .gauge, help: help, buckets: nil)
    }

    /// Describes a histogram.
    public static func histogram(
        _ name: String, _ help: String, _ buckets: Buckets
    ) -> MetricDescription {
        MetricDescription(name: name, kind: .histogram, help: help, buckets: buckets)
    }
}

/// The upper bounds of a histogram's buckets.
///
/// Whole numbers of a small unit, so that recording is adding; what is reported is divided by the divisor.
public struct Buckets: Sendable, Hashable {
    /// How many bounds there may be; one more bucket takes what lies above the last of them.
    static let most = 23

    /// Inclusive, ascending.
    let bounds: [Int64]
    /// How many of the small unit make one of the reported unit.
    let divisor: Double

    /// Times, kept in nanoseconds and reported in seconds: 5 µs to 10 s, three bounds for each power of ten.
    public static let seconds = Buckets(
        bounds: [
            5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
            5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
            1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
        ], divisor: 1e9)

    /// Numbers of things: 1 to 1,000, three bounds for each power of ten.
    public static let counts = Buckets(
        bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000], divisor: 1)
}
