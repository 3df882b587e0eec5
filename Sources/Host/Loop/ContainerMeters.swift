import CoreMetrics

/// What is counted of one container, through swift-metrics: resolved once, when the container is made.
///
/// Containers beyond ``limit`` are counted together, so that their number does not make the metrics grow
/// without end. What was counted is forgotten with the container.
final class ContainerMeters {
    /// How many containers are told apart.
    static let limit = 500

    /// What stands for the containers beyond: no container can have this name.
    static let others = "_other"

    /// How many containers are told apart at present.
    ///
    /// Used on the event loop alone, as everything that has one.
    final class Room {
        fileprivate(set) var taken = 0
    }

    /// What is counted.
    enum Counted {
        /// Commands that were passed on to components.
        case commands
        /// Entries that were made durable.
        case entries
        /// Commands that a component refused.
        case refusals
        /// Entries that were not made durable.
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
        let isToldApart = room.taken < Self.limit
        label = isToldApart ? container : Self.others
        if isToldApart { room.taken += 1 }
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

    /// Counts one more.
    func count(_ what: Counted) {
        switch what {
        case .commands: commands.increment()
        case .entries: entries.increment()
        case .refusals: refusals.increment()
        case .failures: failures.increment()
        }
    }

    /// Has the restarts of a component's process told, also while there are none.
    func expectRestarts(of component: String) { _ = restarts(of: component) }

    /// A component's process ended, and is started again.
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
