/// One number, or one histogram, of one moment: a metric's name with one set of labels.
public struct MetricSample: Sendable, Hashable {
    /// What was read.
    public enum Value: Sendable, Hashable {
        /// A counter's or a gauge's number.
        case number(Double)
        /// What a histogram holds.
        case histogram(HistogramReading)
    }

    /// The metric's name.
    public var name: String
    /// What distinguishes it from others of its name.
    public var labels: [String: String]
    /// What was read.
    public var value: Value

    /// A sample of a number.
    public init(_ name: String, _ labels: [String: String], _ number: Double) {
        self.init(name, labels, .number(number))
    }

    /// A sample of any kind.
    public init(_ name: String, _ labels: [String: String], _ value: Value) {
        self.name = name
        self.labels = labels
        self.value = value
    }
}

/// What a histogram holds, as Prometheus has it: each bucket counts those before it too.
public struct HistogramReading: Sendable, Hashable {
    /// How many values were at most so big.
    public struct Bucket: Sendable, Hashable {
        /// The bucket's inclusive bound.
        public let upTo: Double
        /// How many values were at most that.
        public let count: Int
    }

    /// The buckets, by ascending bound; values above the last are in ``count`` alone.
    public let buckets: [Bucket]
    /// How many values were recorded.
    public let count: Int
    /// Their sum.
    public let sum: Double
}

/// All samples of one name, with what they mean.
public struct MetricFamily: Sendable, Hashable {
    /// What the metric is.
    public let description: MetricDescription
    /// Its samples, in the order of their labels.
    public let samples: [MetricSample]

    /// Puts samples under their descriptions, a family for each name, both in a stable order: the catalogue's, then
    /// by name.
    public static func families(of samples: [MetricSample]) -> [MetricFamily] {
        let byName = Dictionary(grouping: samples, by: \.name)
        let known = MetricCatalog.all.map(\.name)
        let others = Set(byName.keys).subtracting(known).sorted()
        return (known + others).compactMap { name in
            guard let samples = byName[name] else { return nil }
            return MetricFamily(
                description: MetricCatalog[name] ?? description(of: samples, name),
                samples: samples.map { (key: $0.order, sample: $0) }
                    .sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.sample))
        }
    }

    /// For what a library records on its own, which the catalogue does not know.
    private static func description(
        of samples: [MetricSample], _ name: String
    ) -> MetricDescription {
        if case .histogram? = samples.first?.value {
            return .histogram(name, "Recorded by a library.", .seconds)
        }
        return name.hasSuffix("_total")
            ? .counter(name, "Recorded by a library.") : .gauge(name, "Recorded by a library.")
    }
}

extension MetricSample {
    /// Its labels, by name: what samples of one name are ordered by.
    fileprivate var order: [String] {
        labels.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }
}
