import Host
import NIOCore
import Systemd

/// Notifies the service manager of the daemon's state.
///
/// Notifications are sent from the event loop of containers and connections, so a watchdog ping shows that calls are
/// served. An idle daemon sends nothing else, and runs no other timer.
///
/// Unchecked Sendable: its state is used only on the event loop.
final class LifeSigns: @unchecked Sendable {
    private enum Phase {
        case loading, serving, reloading, stopping
    }

    /// The interval of progress notifications during the start.
    private static let loadInterval = TimeAmount.seconds(1)
    /// The time that a start may take without progress.
    ///
    /// It is longer than a worker may be silent, plus the pause before its restart.
    private static let loadPatience = Duration.seconds(60)
    /// The delay after which a change is shown in the status.
    private static let statusInterval = TimeAmount.seconds(2)

    private let registry: Registry
    private let loop: any EventLoop
    private let watchdog: Watchdog?
    /// Returns the problems, without those that the registry reports.
    private let problems: @Sendable () -> [String]
    private let notifier = Notifier()

    private var phase = Phase.loading
    private var progress: LoadProgress?
    private var said = ""

    init(
        registry: Registry, loop: any EventLoop, watchdog: Watchdog?,
        problems: @escaping @Sendable () -> [String]
    ) {
        self.registry = registry
        self.loop = loop
        self.watchdog = watchdog
        self.problems = problems
    }

    /// Notifies: the store is open, and its containers are being loaded.
    func load() async {
        await onLoop { [self] in
            let interval = Self.loadInterval
            _ = loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) {
                [weak self] task in
                guard let self, case .loading = phase else { return task.cancel() }
                reportProgress()
            }
        }
    }

    /// Notifies the service manager that all containers are loaded or have failed, and that the definitions are
    /// applied; returns a line about what is served, nil if the daemon is already stopping.
    func ready() async -> String? {
        await onLoop { [self] in
            guard case .loading = phase else { return nil }
            phase = .serving
            let status = registry.status(hasDetails: false)
            said = line(status)
            if let watchdog {
                loop.scheduleRepeatedTask(
                    initialDelay: .zero, delay: TimeAmount(watchdog.interval)
                ) { [notifier] _ in notifier.isAlive() }
            }
            notifier.ready(status: said)
            registry.watchStatus(every: Self.statusInterval) { [weak self] in self?.changed($0) }
            let problems = problems() + status.problems
            return held(status)
                + (problems.isEmpty ? "" : "; " + counted(problems.count, "problem"))
        }
    }

    /// Notifies: the configuration is being read, until ``reloaded()`` is called.
    func reloading() async {
        await onLoop { [self] in
            guard case .serving = phase else { return }
            phase = .reloading
            notifier.reloading()
        }
    }

    /// Notifies: the configuration was read.
    func reloaded() async {
        await onLoop { [self] in
            guard case .reloading = phase else { return }
            phase = .serving
            said = line(registry.status(hasDetails: false))
            notifier.ready(status: said)
        }
    }

    /// Notifies: an orderly stop has begun.
    func stopping() async {
        await onLoop { [self] in
            phase = .stopping
            notifier.stopping(status: "stopping: finishing what was accepted")
        }
    }

    private func reportProgress() {
        let now = registry.startup.progress()
        // Without progress the timeout is not extended.
        guard now != progress else { return }
        progress = now
        notifier.extendTimeout(
            by: Self.loadPatience,
            status: "loading: \(now.loaded) of \(counted(now.containers, "container")) ready, "
                + "\(counted(now.records, "record")) read")
    }

    private func changed(_ status: RegistryStatus) {
        guard case .serving = phase else { return }
        let line = line(status)
        guard line != said else { return }
        said = line
        notifier.status(line)
    }

    /// Returns the status as one line: what is served, and the problems.
    private func line(_ status: RegistryStatus) -> String {
        let held = held(status)
        let problems = problems() + status.problems
        guard let first = problems.first else { return "serving \(held)" }
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems, the first"
        return "serving \(held); \(count): \(first)"
    }

    private func held(_ status: RegistryStatus) -> String {
        [
            counted(status.containers, "container"), counted(status.items, "item"),
            counted(status.plugins, "plugin"),
        ].joined(separator: ", ")
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body()) }
        }
    }
}

/// A number with its noun.
private func counted(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
}
