import Control
import Glibc
import Host
import LogMessages
import Logging
import NIOCore
import NIOPosix
import PluginLoader
import ServiceLifecycle
import Store
import Synchronization
import Systemd
import UnixSignals
import Workers

/// The user that the daemon runs as.
let ownUser = getuid()

/// The daemon: creates the parts, runs them, and stops them in order.
struct Daemon {
    /// The descriptors and the watchdog that the service manager passed to the process.
    struct Inheritance: Sendable {
        /// Listening sockets, and descriptors that the manager stores for the daemon.
        var descriptors: PassedDescriptors
        /// The interval at which the manager expects watchdog pings; nil: none.
        let watchdog: Watchdog?

        /// Receives the inheritance; call it before any thread is started.
        static func receive() throws(ListenError) -> Inheritance {
            let watchdog = Watchdog.take()
            return Inheritance(descriptors: try PassedDescriptors.receive(), watchdog: watchdog)
        }
    }

    let settings: DaemonSettings
    let source: DaemonSettings.Source
    let inheritance: Inheritance
    let threshold: LogThreshold

    let logger = Logger(label: "atriumd")
    let runningWorkers = RunningWorkers()
    let meter = LoopMeter(logger: Logger(label: "atriumd"))

    /// Runs until the daemon is stopped.
    func run() async throws {
        // Writing to a closed connection must not end the process.
        signal(SIGPIPE, SIG_IGN)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: meter)
        let service = try makeService(on: group.next())
        let lifecycle = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await lifecycle.run()
        // Workers were asked to end; the service manager would report any that remain.
        await runningWorkers.allEnded()
        try await group.shutdownGracefully()
    }

    private func makeService(on loop: any EventLoop) throws -> DaemonService {
        var passed = inheritance.descriptors
        let kept = DescriptorStore { name in getenv(name).map { String(cString: $0) } }
        let handover = Handover(taking: &passed, in: kept, logger: logger)
        let listener = try listener(taking: &passed, keptIn: kept)
        let roles = try settings.roleTable(groups: listener.groups)
        // The system's directory of users may hang, so it is queried while the daemon starts.
        // Until it has replied, nobody knows whether the socket's group may only read.
        let mayOnlyRead = settings.roles.observers.contains { $0.hasPrefix("@") }
        let access = AccessBook(
            .withoutDirectory(
                ownUser: ownUser, socketGroups: mayOnlyRead ? [] : listener.knownGroups)
        ) { loop.scheduleTask(in: TimeAmount($0), $1) }
        let groups = workerCgroups()
        let (registry, store) = try registry(on: loop, groups)
        // Before any component is created.
        loop.execute { registry.crashNote.install { CrashHandler.install($0, $1) } }
        let reloader = Reloader(
            settings, from: source,
            parts: Reloader.Parts(
                registry: registry, loop: loop, store: store, threshold: threshold,
                access: access, listener: listener),
            logger: logger)
        let signs = LifeSigns(registry: registry, loop: loop, watchdog: inheritance.watchdog) {
            reloader.problems
        }
        let facade = DaemonFacade(
            socket: listener.path, stateDirectory: settings.stateDirectory, loop: loop,
            threshold: threshold, logger: logger, reloader: reloader, signs: signs)
        return DaemonService(
            registry: registry, facade: facade, reloader: reloader, roles: roles, signs: signs,
            access: access, refuses: refusal(of: groups),
            limits: settings.limits.server, loop: loop, listener: listener, handover: handover,
            turns: meter.notes, logger: logger)
    }

    /// Creates the listener, and closes descriptors from systemd that nothing uses.
    private func listener(
        taking passed: inout PassedDescriptors, keptIn store: DescriptorStore?
    ) throws -> Listener {
        let listener = try Listener(
            taking: &passed, or: settings.socket, keptIn: store, logger: logger)
        for name in passed.closeRest() {
            logger.log(
                .descriptorUnused,
                [
                    "name": "\(name)",
                    "reason": "the name is unknown; ours says FileDescriptorName=varlink",
                ])
        }
        return listener
    }

    private func registry(
        on loop: any EventLoop, _ groups: WorkerCgroups?
    ) throws -> (Registry, Store?) {
        Notifier().status("opening the store")
        try Directories.make(settings.stateDirectory, mode: 0o750)
        let plugins = Installation.plugins(settings)
        report(plugins)
        let opened = OpenedStore()
        let registry = try Registry(
            loop: loop, plugins: plugins, workers: workers(on: loop, in: groups),
            limits: settings.limits.host, logger: Logger(label: "atrium.host"), turns: meter.notes
        ) { outcomes throws(StoreError) in
            let store = try Store(
                at: settings.stateDirectory, logger: Logger(label: "atrium.store"),
                outcomes: outcomes)
            opened.store.withLock { $0 = store }
            return store
        }
        return (registry, opened.store.withLock { $0 })
    }

    private func report(_ plugins: PluginLibrary) {
        for problem in plugins.problems {
            logger.log(.pluginFolderWrong, ["reason": "\(problem)"])
        }
        for plugin in plugins.plugins {
            switch plugin.state {
            case .refused, .failed:
                logger.log(
                    plugin.state == .refused ? .pluginRefused : .pluginFailed,
                    [
                        "plugin": "\(plugin.id)", "reason": "\(plugin.reason ?? "")",
                        "path": "\(plugin.path)",
                    ])
            case .found, .loaded, .superseded:
                logger.debug(
                    "a plugin was found",
                    metadata: ["plugin": "\(plugin.id)", "state": "\(plugin.state.rawValue)"])
            }
        }
        if plugins.identifiers.isEmpty {
            logger.log(.noPlugin, ["path": "\(Installation.shippedPlugins)"])
        }
    }

    /// Messages of ServiceLifecycle are useful only for debugging.
    private var quiet: Logger {
        var logger = Logger(label: "atriumd.lifecycle")
        logger.logLevel = .error
        return logger
    }
}

/// Passes the store out of the closure that opens it.
private final class OpenedStore: Sendable {
    let store = Mutex<Store?>(nil)
}
