/// What is counted since the start, for each container.
struct MetricCounters {
    /// What is counted.
    enum Counter: CaseIterable {
        case commands, commits, refusals, failures, restarts

        var name: String {
            switch self {
            case .commands: "atrium_commands_total"
            case .commits: "atrium_commits_total"
            case .refusals: "atrium_refusals_total"
            case .failures: "atrium_failed_entries_total"
            case .restarts: "atrium_worker_restarts_total"
            }
        }

        var help: String {
            switch self {
            case .commands: "Commands that were passed on to components."
            case .commits: "Entries that were made durable."
            case .refusals: "Commands that a component refused."
            case .failures: "Entries that could not be made durable, and those that rested on them."
            case .restarts: "Workers that ended and were started again."
            }
        }
    }

    private var counts: [Counter: [String: Int]] = [:]

    /// Counts one more.
    mutating func count(_ counter: Counter, container: String) {
        counts[counter, default: [:]][container, default: 0] += 1
    }

    /// All of them, sorted.
    var metrics: [Metric] {
        Counter.allCases.flatMap { counter in
            (counts[counter] ?? [:]).sorted { $0.key < $1.key }.map { container, count in
                Metric(
                    name: counter.name, kind: .counter, help: counter.help,
                    labels: ["container": container], value: Double(count))
            }
        }
    }
}
