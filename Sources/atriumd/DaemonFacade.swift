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

/// What the daemon says of itself on the control socket, and does to itself.
final class DaemonFacade: DaemonState {
    private struct State {
        var phase = DaemonFacts.Phase.starting
        var problems: [String] = []
        var server: VarlinkServer?
    }

    let version = AtriumVersion.current

    private let settings: DaemonSettings
    private let registry: Registry
    private let loop: any EventLoop
    private let threshold: LogThreshold
    private let logger: Logger
    private let started = SystemClock.now()
    private let startInstant = ContinuousClock.now
    private let state = Mutex(State())

    init(
        settings: DaemonSettings, registry: Registry, loop: any EventLoop,
        threshold: LogThreshold, logger: Logger
    ) {
        self.settings = settings
        self.registry = registry
        self.loop = loop
        self.threshold = threshold
        self.logger = logger
    }

    /// The server, once there is one.
    func serve(with server: VarlinkServer) { state.withLock { $0.server = server } }

    /// The daemon serves, or stops.
    func enter(_ phase: DaemonFacts.Phase) { state.withLock { $0.phase = phase } }

    func facts() -> DaemonFacts {
        let state = state.withLock { $0 }
        let elapsed = startInstant.duration(to: .now)
        return DaemonFacts(
            phase: state.phase, problems: state.problems, started: started.milliseconds,
            uptime: elapsed / .seconds(1), socket: settings.socket,
            stateDirectory: settings.stateDirectory,
            statistics: state.server?.statistics ?? VarlinkStatistics())
    }

    func setLogLevel(_ level: String) -> String? {
        guard let level = Logger.Level(rawValue: level) else { return nil }
        let previous = threshold.level
        threshold.level = level
        logger.tell(.logLevelChanged, ["from": "\(previous)", "to": "\(level)"])
        return previous.rawValue
    }

    func reload(_ reply: @escaping @Sendable (Result<[String], ReloadProblem>) -> Void) {
        // Reads files: away from the loop.
        Task {
            let changed = await self.applyDefinitions()
            self.loop.execute { reply(.success(changed)) }
        }
    }

    /// Applies `containers.d/`, file by file; what is wrong with one is a problem of the daemon's and
    /// keeps no other from being applied.
    ///
    /// - Returns: what was done, a line each.
    func applyDefinitions() async -> [String] {
        var lines: [String] = []
        var problems: [String] = []
        for file in DefinitionFolder(settings).files() {
            do {
                let definitions = try file.outcome.get()
                for result in try await apply(definitions) {
                    lines.append("\(result.container): \(result.action.rawValue)")
                    lines += result.changes.map { "\(result.container): \($0)" }
                }
            } catch let problem as DefinitionProblem {
                problems.append("\(problem)")
            } catch {
                problems.append("\(file.path): \(error)")
            }
        }
        for problem in problems {
            logger.tell(.definitionNotApplied, ["reason": "\(problem)"])
        }
        state.withLock { $0.problems = problems }
        return lines + problems
    }

    private func apply(_ definitions: [ContainerDefinition]) async throws -> [ApplyResult] {
        let (registry, loop) = (registry, loop)
        return try await withCheckedThrowingContinuation { continuation in
            loop.execute {
                registry.assumeIsolated { registry in
                    registry.apply(
                        definitions, dryRun: false, prune: false,
                        by: Caller(actor: "unix:\(ownUser)", isModerator: true)
                    ) { continuation.resume(with: $0.map(\.results)) }
                }
            }
        }
    }
}
