import CoreMetrics

/// The counters of one container, through swift-metrics; they are made once, with the container.
///
/// Containers beyond ``limit`` share one set of counters, so that the metrics stay bounded. A container's counters are
/// destroyed with it.
final class ContainerMeters {
    /// How many containers have counters of their own.
    static let limit = 500

    /// The label that the other containers share; no container can have this name.
    static let others = "_other"

    /// The number of containers that have counters of their own at present.
    ///
    /// Use it on the event loop only.
    final class Room {
        fileprivate(set) var taken = 0
    }

    /// An event that is counted.
    enum Counted {
        /// A command was passed to a component.
        case commands
        /// An entry was committed.
        case entries
        /// A component refused a command.
        case refusals
        /// An entry could not be committed.
        case failures
    }

    private let commands: Counter
    private let entries: Counter
    private let refusals: Counter
    private let failures: Counter
    private let label: String
    private let room: Room
    private var restarts: [String: Counter] = [:]

    init(container: String, in room: Room) {
        let hasOwnLabel = room.taken < Self.limit
        label = hasOwnLabel ? container : Self.others
        if hasOwnLabel { room.taken += 1 }
        self.room = room
        let labels = [("container", label)]
        commands = Counter(label: "atrium_commands_total", dimensions: labels)
        entries = Counter(label: "atrium_entries_total", dimensions: labels)
        refusals = Counter(label: "atrium_refusals_total", dimensions: labels)
        failures = Counter(label: "atrium_failed_entries_total", dimensions: labels)
    }

    deinit {
        if label != Self.others { room.taken -= 1 }
        for counter in [commands, entries, refusals, failures] + restarts.values {
            counter.destroy()
        }
    }

    /// Counts one event.
    func count(_ what: Counted) {
        switch what {
        case .commands: commands.increment()
        case .entries: entries.increment()
        case .refusals: refusals.increment()
        case .failures: failures.increment()
        }
    }

    /// Makes a component's counter of worker restarts, so that it is reported as 0 before the first one.
    func expectRestarts(of component: String) { _ = restarts(of: component) }

    /// Counts a restart of a component's worker.
    func countRestart(of component: String) { restarts(of: component).increment() }

    private func restarts(of component: String) -> Counter {
        if let counter = restarts[component] { return counter }
        let counter = Counter(
            label: "atrium_worker_restarts_total",
            dimensions: [
                ("container", label), ("component", label == Self.others ? "" : component),
            ])
        restarts[component] = counter
        return counter
    }
}
