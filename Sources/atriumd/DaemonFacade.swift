import AtriumKit
import Control
import Host
import Interfaces
import LogMessages
import Logging
import NIOCore
import Synchronization
import Systemd
import Varlink
import Workers

/// The daemon's own state and operations, as the control socket offers them.
final class DaemonFacade: DaemonState {
    private struct State {
        var phase = DaemonFacts.Phase.starting
        var server: VarlinkServer?
    }

    let version = AtriumVersion.current

    private let socket: String
    private let stateDirectory: String
    private let loop: any EventLoop
    private let threshold: LogThreshold
    private let logger: Logger
    private let reloader: Reloader
    private let signs: LifeSigns
    private let workerProblems = WorkerWalls.missing
    private let started = SystemClock.now()
    private let startInstant = ContinuousClock.now
    private let state = Mutex(State())

    init(
        socket: String, stateDirectory: String, loop: any EventLoop, threshold: LogThreshold,
        logger: Logger, reloader: Reloader, signs: LifeSigns
    ) {
        self.socket = socket
        self.stateDirectory = stateDirectory
        self.loop = loop
        self.threshold = threshold
        self.logger = logger
        self.reloader = reloader
        self.signs = signs
    }

    /// Sets the server, once there is one.
    func serve(with server: VarlinkServer) { state.withLock { $0.server = server } }

    /// Sets the daemon's phase.
    func enter(_ phase: DaemonFacts.Phase) { state.withLock { $0.phase = phase } }

    func facts() -> DaemonFacts {
        let state = state.withLock { $0 }
        let elapsed = startInstant.duration(to: .now)
        return DaemonFacts(
            phase: state.phase, problems: reloader.problems, workerProblems: workerProblems,
            started: started.milliseconds,
            uptime: elapsed / .seconds(1), socket: socket, stateDirectory: stateDirectory,
            statistics: state.server?.statistics ?? VarlinkStatistics())
    }

    func setLogLevel(_ level: String) -> String? {
        guard let level = Logger.Level(rawValue: level) else { return nil }
        let previous = threshold.level
        threshold.level = level
        logger.log(.logLevelChanged, ["from": "\(previous)", "to": "\(level)"])
        return previous.rawValue
    }

    func reload(_ reply: @escaping @Sendable (Result<[String], ReloadProblem>) -> Void) {
        // Away from the event loop, because it reads files.
        Task(executorPreference: QuietExecutor.shared) { [self] in
            let result: Result<[String], ReloadProblem> =
                switch await reloader.reload(reportingTo: signs) {
                case nil: .failure(ReloadProblem("the daemon is stopping"))
                case let outcome? where outcome.problems.isEmpty: .success(outcome.changed)
                case let outcome?: .failure(ReloadProblem(Self.sentence(outcome)))
                }
            loop.execute { reply(result) }
        }
    }

    /// Returns a sentence with the problems of a reload, and the changes that were made nevertheless.
    private static func sentence(_ outcome: Reloader.Outcome) -> String {
        outcome.problems.joined(separator: "; ") + "; changed: " + outcome.done
    }
}
