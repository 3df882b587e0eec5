public import Host
public import Instruments
import Interfaces
public import LogMessages
public import Logging
import PluginInterfaces
public import Varlink

/// The control protocol: every published interface, implemented over a registry.
public enum ControlRouter {
    /// The interfaces that the daemon publishes.
    static let interfaces: [any VarlinkInterface.Type] = [
        Interfaces.Daemon.self, Interfaces.Plugins.self, Interfaces.Containers.self,
        Interfaces.Contents.self, Interfaces.Filters.self, Interfaces.Votes.self,
        Interfaces.Comments.self, Interfaces.Screens.self, Interfaces.Notifications.self,
        Interfaces.Store.self, Interfaces.Metrics.self, Interfaces.People.self,
    ]

    /// Makes the router that a ``VarlinkServer`` on the registry's event loop serves.
    ///
    /// - Parameters:
    ///   - registry: the registry that executes the calls.
    ///   - roles: the roles of peers.
    ///   - daemon: the daemon's own state.
    ///   - instruments: the metrics of the process.
    ///   - turns: notes about the event loop's present turn.
    ///   - logger: logs subscribers that missed notifications.
    /// - Returns: the router.
    public static func make(
        registry: Registry, roles: AccessBook, daemon: any DaemonState,
        instruments: InstrumentPanel = .shared, turns: TurnNotes? = nil, logger: Logger
    ) -> VarlinkRouter {
        let missing = MethodRoles.missing(in: interfaces)
        precondition(missing.isEmpty, "no role is set for \(missing.joined(separator: ", "))")
        let context = ControlContext(
            registry: registry, accessBook: roles, missedLog: MissedLog(logger))
        var router = VarlinkRouter(
            vendor: "Atrium", product: "atriumd", version: daemon.version,
            url: "https://atrium.example/")
        router.identify = { roles.identify($0, $1) }
        router.refuses = { roles.refusal(of: $0) }
        router.authorize = { authorization(of: $0, context.accessBook) }
        ClientMeters.prepare()
        router.metrics = VarlinkMetrics(
            prefix: "atrium", factory: instruments, turns: turns)
        let metrics = DaemonMetrics(
            registry: registry, daemon: daemon, instruments: instruments)
        DaemonControl(context: context, daemon: daemon, metrics: metrics).register(in: &router)
        MetricsControl(metrics: metrics).register(in: &router)
        PluginsControl(context: context).register(in: &router)
        ContainersControl(context: context).register(in: &router)
        ContentsControl(context: context).register(in: &router)
        FiltersControl(context: context).register(in: &router)
        VotesControl(context: context).register(in: &router)
        CommentsControl(context: context).register(in: &router)
        StoreControl(context: context).register(in: &router)
        PeopleControl(context: context).register(in: &router)
        let screens = ScreensControl(context: context)
        screens.register(in: &router)
        router.resume(Screens.Open.self) { screens.resume($0, call: $1) }
        let notifications = NotificationsControl(context: context)
        notifications.register(in: &router)
        router.resume(Notifications.Subscribe.self) { notifications.resume($0, call: $1) }
        // Published for plugin authors to read; calls are answered with MethodNotImplemented.
        for interface in PluginProtocols.all { router.add(interface) }
        return router
    }

    private static func authorization(
        of method: String, _ book: AccessBook
    ) -> VarlinkRouter.Authorization? {
        // A method without a role belongs to the Varlink protocol itself.
        guard let wanted = MethodRoles.table[method], wanted > .observer else { return nil }
        return { peer in
            guard let denial = book.denial(of: method, wanting: wanted, to: peer) else {
                return nil
            }
            return VarlinkDenial(
                denial, reason: "it wants the role \(denial.role), and theirs is \(denial.yours)")
        }
    }
}

/// The daemon's own state and operations; called on the event loop.
public protocol DaemonState: Sendable {
    /// Its version.
    var version: String { get }
    /// The daemon's facts that the registry does not have.
    func facts() -> DaemonFacts
    /// Reads configuration and definitions again; replies with the changes, one line each.
    func reload(_ reply: @escaping @Sendable (Result<[String], ReloadProblem>) -> Void)
    /// Sets the log level; returns the previous one, or nil if the level is not valid.
    func setLogLevel(_ level: String) -> String?
}

/// The daemon's own facts.
public struct DaemonFacts: Sendable {
    /// The daemon's phase.
    public enum Phase: String, Sendable {
        /// Containers are being loaded.
        case starting
        /// Calls are served.
        case ready
        /// The daemon is stopping, and finishes accepted calls.
        case stopping
    }

    /// The daemon's phase.
    public var phase: Phase
    /// The problems, one sentence each, without those that the registry reports.
    public var problems: [String]
    /// The problems of workers, one sentence each.
    public var workerProblems: [String]
    /// The time at which it started, in milliseconds since 1970.
    public var started: Int64
    /// Seconds since it started.
    public var uptime: Double
    /// The socket's path.
    public var socket: String
    /// The store's directory.
    public var stateDirectory: String
    /// The server's counters.
    public var statistics: VarlinkStatistics

    /// Facts of one moment.
    public init(
        phase: Phase, problems: [String], workerProblems: [String], started: Int64, uptime: Double,
        socket: String,
        stateDirectory: String, statistics: VarlinkStatistics
    ) {
        self.phase = phase
        self.problems = problems
        self.workerProblems = workerProblems
        self.started = started
        self.uptime = uptime
        self.socket = socket
        self.stateDirectory = stateDirectory
        self.statistics = statistics
    }
}

/// Why a reload did nothing.
public struct ReloadProblem: Error, Sendable {
    /// The reason, as a sentence.
    public let reason: String

    /// A reason.
    public init(_ reason: String) { self.reason = reason }
}
