import Control
import Glibc
import Host
import LogMessages
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Store
import Synchronization
import Systemd
import UnixSignals
import Varlink
import Workers

/// The user that the daemon runs as.
let ownUser = getuid()

/// The daemon: puts the parts together, runs them, and takes them apart in order.
struct Daemon {
    let settings: DaemonSettings
    /// What systemd listens on for us.
    let descriptors: [(name: String, fd: Int32)]
    let threshold: LogThreshold

    let logger = Logger(label: "atriumd")
    let runningWorkers = RunningWorkers()

    init(
        settings: DaemonSettings, descriptors: [(name: String, fd: Int32)],
        threshold: LogThreshold
    ) {
        self.settings = settings
        self.descriptors = descriptors
        self.threshold = threshold
    }

    /// Runs until it is told to stop.
    func run() async throws {
        // A peer that goes away must not take us along.
        signal(SIGPIPE, SIG_IGN)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let service = try makeService(on: group.next())
        let lifecycle = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await lifecycle.run()
        // They were told to end: a service manager that finds them afterwards would complain.
        await runningWorkers.allEnded()
        try await group.shutdownGracefully()
    }

    private func makeService(on loop: any EventLoop) throws -> DaemonService {
        try Directories.make(settings.stateDirectory, mode: 0o750)
        let plugins = PluginLibrary(scanning: Installation.pluginDirectories(settings))
        report(plugins)
        let opened = OpenedStore()
        let registry = try Registry(
            loop: loop, plugins: plugins, workers: workers(on: loop),
            logger: Logger(label: "atrium.host")
        ) { outcomes throws(StoreError) in
            let store = try Store(
                at: settings.stateDirectory, logger: Logger(label: "atrium.store"),
                outcomes: outcomes)
            opened.store.withLock { $0 = store }
            return store
        }
        let facade = DaemonFacade(
            settings: settings, registry: registry, loop: loop, threshold: threshold,
            logger: logger)
        return DaemonService(
            settings: settings, registry: registry, store: opened.store.withLock { $0 },
            facade: facade,
            loop: loop, listener: try listener(), logger: logger)
    }

    /// The socket that systemd made for us, else a path of our own.
    private func listener() throws -> Listener {
        if let passed = descriptors.first(where: { $0.name == "varlink" }) {
            var info = stat()
            let group = stat(settings.socket, &info) == 0 ? info.st_gid : getegid()
            return Listener(address: .descriptor(passed.fd), group: group)
        }
        for other in descriptors {
            logger.tell(.descriptorUnused, ["name": "\(other.name)"])
        }
        let folder = settings.socket.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast().joined(separator: "/")
        try Directories.make(folder.isEmpty ? "." : folder, mode: 0o755)
        if let group = getgrnam("atrium"), isMember(of: group.pointee.gr_gid) {
            return Listener(
                address: .path(settings.socket, group: "atrium"), group: group.pointee.gr_gid)
        }
        return Listener(address: .path(settings.socket), group: getegid())
    }

    private func isMember(of group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: 1_024)
        let count = getgroups(Int32(groups.count), &groups)
        return ownUser == 0 || getegid() == group
            || groups.prefix(Int(max(0, count))).contains(group)
    }

    private func report(_ plugins: PluginLibrary) {
        for problem in plugins.problems {
            logger.tell(.pluginFolderWrong, ["reason": "\(problem)"])
        }
        for plugin in plugins.plugins {
            switch plugin.state {
            case .refused, .failed:
                logger.tell(
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
            logger.tell(.noPlugin, ["path": "\(Installation.shippedPlugins)"])
        }
    }

    /// What ServiceLifecycle says of itself interests only those who debug it.
    private var quiet: Logger {
        var logger = Logger(label: "atriumd.lifecycle")
        logger.logLevel = .error
        return logger
    }
}

/// Where the daemon listens, and the group whose members may vote there.
struct Listener: Sendable {
    let address: VarlinkServer.Address
    let group: UInt32
}

/// Takes the store out of the closure that opens it.
private final class OpenedStore: Sendable {
    let store = Mutex<Store?>(nil)
}
