import Instruments
import Interfaces
import Varlink

/// `io.systemd.Metrics`: the metrics as systemd-report(1) collects them.
///
/// The format is that of systemd v260: `src/shared/varlink-io.systemd.Metrics.c`, `metrics.c`, and how
/// `src/report/report.c` reads it. A family's name is the socket's file name in `/run/systemd/report`, a dot, and a
/// Varlink field name: `org.atrium.Daemon.CallsTotal`. A report takes 1,024 metrics from all its sources together. So
/// histograms, which systemd does not support, are reduced to their count and sum.
struct MetricsControl: MetricsService {
    let metrics: DaemonMetrics

    func list(
        _ parameters: Interfaces.Metrics.List.Parameters,
        call: VarlinkCall<Interfaces.Metrics.List.Reply>
    ) {
        answer(call, with: metrics.families().flatMap(SystemdMetric.metrics(of:)))
    }

    func describe(
        _ parameters: Interfaces.Metrics.Describe.Parameters,
        call: VarlinkCall<Interfaces.Metrics.Describe.Reply>
    ) {
        answer(call, with: MetricCatalog.all.flatMap(SystemdMetric.families(of:)))
    }

    /// Sends each metric as a reply of its own, as systemd's services do.
    private func answer<Reply>(_ call: VarlinkCall<Reply>, with replies: [Reply]) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        guard let last = replies.last else {
            return call.fail(Interfaces.Metrics.NoSuchMetric())
        }
        for reply in replies.dropLast() { call.replyContinues(reply) }
        call.reply(last)
    }
}

/// Metrics under systemd's names.
enum SystemdMetric {
    /// The prefix of all families' names; the socket must have this name among systemd's sources.
    static let prefix = "org.atrium.Daemon"

    /// Converts a name such as `atrium_calls_total` to `org.atrium.Daemon.CallsTotal`.
    static func name(of metric: String, _ suffix: String = "") -> String {
        let words = metric.split(separator: "_")
        let own = words.first == "atrium" ? words.dropFirst() : words[...]
        return prefix + "." + own.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            + suffix
    }

    static func metrics(of family: MetricFamily) -> [Interfaces.Metrics.List.Reply] {
        family.samples.flatMap { sample -> [Interfaces.Metrics.List.Reply] in
            var fields = sample.labels
            let object = fields.removeValue(forKey: "container")
            func reply(_ suffix: String, _ value: Double) -> Interfaces.Metrics.List.Reply {
                .init(
                    name: name(of: sample.name, suffix), value: value, object: object,
                    fields: fields.isEmpty ? nil : fields)
            }
            switch sample.value {
            case .number(let number): return [reply("", number)]
            case .histogram(let reading):
                return [reply("Count", Double(reading.count)), reply("Sum", reading.sum)]
            }
        }
    }

    static func families(of metric: MetricDescription) -> [Interfaces.Metrics.Describe.Reply] {
        switch metric.kind {
        case .counter: [family(metric, "", metric.help, .counter)]
        case .gauge: [family(metric, "", metric.help, .gauge)]
        case .histogram:
            [
                family(metric, "Count", "How many values there are of: \(metric.help)", .counter),
                family(metric, "Sum", "The sum of all values of: \(metric.help)", .counter),
            ]
        }
    }

    private static func family(
        _ metric: MetricDescription, _ suffix: String, _ help: String,
        _ type: Interfaces.MetricFamilyType
    ) -> Interfaces.Metrics.Describe.Reply {
        .init(name: name(of: metric.name, suffix), description: help, type: type)
    }
}
