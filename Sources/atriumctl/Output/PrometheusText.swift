import Interfaces

/// Metrics as Prometheus reads them: its text exposition format, version 0.0.4.
enum PrometheusText {
    /// The text, in the daemon's order: a family's help and type, then its samples, the labels by name.
    static func text(_ metrics: [Daemon.Metrics.Reply.Metrics]) -> String {
        var text = ""
        var family: String?
        for metric in metrics {
            if metric.name != family {
                family = metric.name
                text += "# HELP \(metric.name) \(escaped(metric.help))\n"
                text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            }
            text += samples(of: metric)
        }
        return text
    }

    private static func samples(of metric: Daemon.Metrics.Reply.Metrics) -> String {
        guard metric.kind == .histogram else {
            return sample(metric.name, metric.labels, metric.value)
        }
        var text = ""
        for bucket in metric.buckets ?? [] {
            text += sample(
                metric.name + "_bucket", metric.labels, Double(bucket.count),
                bound: number(bucket.upTo))
        }
        text += sample(metric.name + "_bucket", metric.labels, metric.value, bound: "+Inf")
        text += sample(metric.name + "_sum", metric.labels, metric.sum ?? 0)
        return text + sample(metric.name + "_count", metric.labels, metric.value)
    }

    private static func sample(
        _ name: String, _ labels: [String: String], _ value: Double, bound: String? = nil
    ) -> String {
        var pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(quoted($0.value))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        let shown = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        return "\(name)\(shown) \(number(value))\n"
    }

    /// Whole numbers without a fraction, others as short as they can be read back.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map(String.init) ?? "\(value)"
    }

    /// A help text: one line, its backslashes escaped.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    /// A label's value, within quotes.
    private static func quoted(_ text: String) -> String {
        escaped(text).replacing("\"", with: "\\\"")
    }
}
