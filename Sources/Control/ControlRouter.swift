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
    ///   - registry: what answers.
    ///   - roles: who may do what.
    ///   - daemon: what the daemon knows of itself.
    ///   - instruments: what the process recorded.
    ///   - turns: where the event loop's present turn is noted.
    ///   - logger: told of subscribers that missed notifications.
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
        // For authors to read; a call is answered with MethodNotImplemented.
        for interface in PluginProtocols.all { router.add(interface) }
        return router
    }

    private static func authorization(
        of method: String, _ book: AccessBook
    ) -> VarlinkRouter.Authorization? {
        // A method without a role is none of ours: it is the protocol's own.
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

/// What the daemon knows of itself and does to itself; asked on the event loop.
public protocol DaemonState: Sendable {
    /// Its version.
    var version: String { get }
    /// What no part of the registry knows.
    func facts() -> DaemonFacts
    /// Reads configuration and definitions again; says what was done, a line each.
    func reload(_ reply: @escaping @Sendable (Result<[String], ReloadProblem>) -> Void)
    /// Sets the level; gives the one before, nil for a level that is none.
    func setLogLevel(_ level: String) -> String?
}

/// What the daemon knows of itself.
public struct DaemonFacts: Sendable {
    /// Whether it starts, serves or stops.
    public enum Phase: String, Sendable {
        /// Containers are being loaded.
        case starting
        /// It serves.
        case ready
        /// It finishes what it accepted.
        case stopping
    }

    /// Whether it starts, serves or stops.
    public var phase: Phase
    /// What is wrong beside what the registry knows, a sentence each.
    public var problems: [String]
    /// What is wrong where components live in processes of their own, a sentence each.
    public var workerProblems: [String]
    /// When it started, milliseconds since 1970.
    public var started: Int64
    /// Seconds since it started.
    public var uptime: Double
    /// The socket's path.
    public var socket: String
    /// The store's directory.
    public var stateDirectory: String
    /// What the server has seen.
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
    /// In a sentence.
    public let reason: String

    /// A reason.
    public init(_ reason: String) { self.reason = reason }
}
