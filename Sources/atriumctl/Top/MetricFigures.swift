import Interfaces

/// The daemon's metrics of one moment, to be asked by name.
struct MetricFigures {
    typealias Metric = Daemon.Metrics.Reply.Metrics

    private let byName: [String: [Metric]]
    /// When they were asked for.
    let moment: ContinuousClock.Instant

    init(_ metrics: [Metric], at moment: ContinuousClock.Instant = .now) {
        byName = Dictionary(grouping: metrics, by: \.name)
        self.moment = moment
    }

    /// All samples of a name.
    func all(_ name: String) -> [Metric] { byName[name] ?? [] }

    /// The samples of a name added up; 0 where there are none.
    func sum(_ name: String, where isMeant: (Metric) -> Bool = { _ in true }) -> Double {
        all(name).filter(isMeant).reduce(0) { $0 + $1.value }
    }

    /// A label of the first sample of a name.
    func label(_ label: String, of name: String) -> String? { all(name).first?.labels[label] }

    /// What a histogram holds, of one sample or of all.
    func histogram(
        _ name: String, where isMeant: (Metric) -> Bool = { _ in true }
    ) -> HistogramFigures {
        all(name).filter(isMeant).reduce(HistogramFigures()) { $0 + HistogramFigures($1) }
    }
}

/// What a histogram holds, or what came to it in some time.
struct HistogramFigures: Equatable {
    private(set) var bounds: [Double] = []
    /// How many values were at most so big, for each bound; then how many there are.
    private(set) var counts: [Double] = []
    private(set) var sum = 0.0

    /// An empty one.
    init() {}

    init(_ metric: MetricFigures.Metric) {
        bounds = (metric.buckets ?? []).map(\.upTo)
        counts = (metric.buckets ?? []).map { Double($0.count) } + [metric.value]
        sum = metric.sum ?? 0
    }

    /// How many values there are.
    var count: Double { counts.last ?? 0 }

    /// Their mean; nil without any.
    var mean: Double? { count > 0 ? sum / count : nil }

    /// The value that a part of all values does not exceed, to the precision of the buckets; nil without any.
    ///
    /// Within a bucket the values are taken for evenly spread; above the last bound it is that bound.
    func quantile(_ part: Double) -> Double? {
        guard count > 0, !bounds.isEmpty else { return nil }
        let rank = part * count
        guard let place = counts.firstIndex(where: { $0 >= rank }), place < bounds.count else {
            return bounds.last
        }
        let lower = place == 0 ? 0 : bounds[place - 1]
        let before = place == 0 ? 0 : counts[place - 1]
        let inside = counts[place] - before
        guard inside > 0 else { return bounds[place] }
        return lower + (bounds[place] - lower) * (rank - before) / inside
    }

    static func + (one: HistogramFigures, other: HistogramFigures) -> HistogramFigures {
        combine(one, other, +)
    }

    static func - (one: HistogramFigures, other: HistogramFigures) -> HistogramFigures {
        combine(one, other, -)
    }

    /// With one of other buckets nothing can be combined: the first stays.
    private static func combine(
        _ one: HistogramFigures, _ other: HistogramFigures, _ operation: (Double, Double) -> Double
    ) -> HistogramFigures {
        var one = one
        if one.bounds.isEmpty {
            one.bounds = other.bounds
            one.counts = other.counts.map { _ in 0 }
        }
        guard one.bounds == other.bounds else { return one }
        one.counts = zip(one.counts, other.counts).map(operation)
        one.sum = operation(one.sum, other.sum)
        return one
    }
}

/// What happened between two moments.
struct MetricChange {
    let before: MetricFigures
    let after: MetricFigures

    /// Seconds between them.
    var seconds: Double {
        max(before.moment.duration(to: after.moment) / .seconds(1), 0.001)
    }

    /// How much a counter grew, a second.
    func rate(
        _ name: String, where isMeant: (MetricFigures.Metric) -> Bool = { _ in true }
    ) -> Double {
        max(0, after.sum(name, where: isMeant) - before.sum(name, where: isMeant)) / seconds
    }

    /// What came to a histogram.
    func histogram(
        _ name: String, where isMeant: (MetricFigures.Metric) -> Bool = { _ in true }
    ) -> HistogramFigures {
        after.histogram(name, where: isMeant) - before.histogram(name, where: isMeant)
    }

    /// Whether both are of the same run of the daemon.
    var isOfOneRun: Bool {
        let start = "atrium_start_time_seconds"
        return before.sum(start) == after.sum(start)
    }
}
