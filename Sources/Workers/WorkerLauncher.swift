internal import AtriumKit
public import Host
public import LogMessages
public import Logging
public import NIOCore
internal import PluginLoader

/// Makes components in worker processes: one `atrium-worker` for each.
///
/// Its guarantees:
///
/// - **The component can't see the difference.** The worker runs the same harness as the daemon, and every value
///   comes back over the socket as it was.
/// - **Order.** Calls reach the component in the order in which they are made and are answered in
///   that order. A message that the component sends between two answers is delivered between them.
/// - **No call waits for a worker.** Nothing blocks the event loop. A call that takes longer than it may
///   (`HostLimits.callTime`) ends its worker, whatever else is called meanwhile.
/// - **One end.** The owner is notified of a worker's end once, with how the process ended, and of nothing after it.
///   Calls that were not answered are never answered. The owner starts the component again.
/// - **A worker runs what was loaded.** If the plugin's files have changed since, a worker runs the library that the
///   daemon holds open, or does not start (``HeldCode``).
/// - **A worker is a boundary.** It reads its plugin's folder, the paths in settings that the plugin's
///   manifest lists, and the system's libraries. It writes nothing, and reaches no other
///   process (``WorkerWalls``).
/// - **No worker outlives the daemon,** and each is reaped. If it has a cgroup of its own
///   (``WorkerCgroups``), no process that it started outlives the worker.
public final class WorkerLauncher: ComponentLauncher {
    let loop: any EventLoop
    private let executable: String
    private let logger: Logger
    private let limits: WorkerLimits
    private let groups: WorkerCgroups?
    private let running: RunningWorkers
    private let networkPlugins: Set<String>
    private let turns: TurnNotes
    /// The version of Landlock to use, if it is not the kernel's own.
    var landlock: Int32?
    /// The time that a worker may take to list the settings of its plugin.
    var descriptionPatience = TimeAmount.seconds(10)

    /// Makes a launcher.
    ///
    /// - Parameters:
    ///   - loop: the event loop of the owners, on which all calls are made and all messages are sent.
    ///   - executable: the path of `atrium-worker`.
    ///   - logger: logs the start and the end of workers.
    ///   - limits: the limits of each worker.
    ///   - groups: makes a cgroup for each worker; nil: workers stay in the daemon's cgroup.
    ///   - running: counts the workers.
    ///   - networkPlugins: the ids of plugins whose workers may connect to the internet.
    ///   - turns: notes which workers' messages a turn of the loop received.
    public init(
        loop: any EventLoop, executable: String, logger: Logger,
        limits: WorkerLimits = WorkerLimits(), groups: WorkerCgroups? = nil,
        running: RunningWorkers = RunningWorkers(), networkPlugins: Set<String> = [],
        turns: TurnNotes = TurnNotes()
    ) {
        self.loop = loop
        self.executable = executable
        self.logger = logger
        self.limits = limits
        self.groups = groups
        self.running = running
        self.networkPlugins = networkPlugins
        self.turns = turns
    }

    /// Starts a worker and makes the component in it.
    ///
    /// - Parameters:
    ///   - request: the component to make.
    ///   - owner: receives the component's messages and its end; held weakly.
    ///   - done: called once on the event loop; during this call only if no process could be started.
    /// - Returns: a closure that ends the worker; it does nothing once the component is made.
    @discardableResult
    public func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        loop.preconditionInEventLoop()
        do throws(WorkerProcess.Problem) {
            var pairs: [SocketPair] = []
            let process: WorkerProcess
            do throws(WorkerProcess.Problem) {
                // As in `WorkerProgram`: calls, stream, questions.
                for _ in 0..<3 { pairs.append(try SocketPair()) }
                process = try WorkerProcess(
                    executable, arguments(for: request),
                    descriptors: pairs.map(\.theirs)
                        + [request.plugin.held?.descriptor].compactMap(\.self),
                    group: groups?.make(
                        container: request.container, component: request.component),
                    memory: limits.memory, running: running, loop: loop)
            } catch {
                for pair in pairs { pair.close() }
                throw error
            }
            for pair in pairs { pair.closeTheirs() }
            let port = WorkerPort(request, process, loop, limits, logger, owner, turns)
            start(port, pairs.map(\.ours), done)
            return { [weak port] in port?.giveUp() }
        } catch {
            done(
                .failure(
                    error.mayPass
                        ? .unavailable(reason: error.reason) : .failed(reason: error.reason)))
            return {}
        }
    }

    /// Starts a worker that writes the settings of a plugin; returns it, the descriptor to read its answer from, and
    /// the logger for its output.
    func startDescribing(
        _ plugin: Plugin
    ) throws(WorkerProcess.Problem) -> (WorkerProcess, Int32, Logger) {
        let pair = try SocketPair()
        let process: WorkerProcess
        do throws(WorkerProcess.Problem) {
            process = try WorkerProcess(
                executable,
                Self.code(of: plugin) + ["--describe", plugin.kind.rawValue] + landlockArguments,
                descriptors: [pair.theirs, pair.theirs, pair.theirs]
                    + [plugin.held?.descriptor].compactMap(\.self),
                group: groups?.make(container: "plugin", component: plugin.id),
                memory: limits.memory, running: running, loop: loop)
        } catch {
            pair.close()
            throw error
        }
        pair.closeTheirs()
        var logger = logger
        logger[metadataKey: "plugin"] = "\(plugin.id)"
        logger[metadataKey: "worker"] = "\(process.id)"
        return (process, pair.ours, logger)
    }

    /// The arguments that name a plugin's code.
    private static func code(of plugin: Plugin) -> [String] {
        let code =
            switch plugin.code {
            case .library(let path): ["--library", path]
            case .program(let path): ["--program", path]
            }
        return code + ["--id", plugin.id]
            + (plugin.held.map { ["--identity", $0.identity] } ?? [])
    }

    private var landlockArguments: [String] {
        landlock.map { ["--landlock", "\($0)"] } ?? []
    }

    /// Returns the worker's arguments: its library or program, and what else of the machine it may use.
    private func arguments(for request: LaunchRequest) -> [String] {
        let plugin = request.plugin
        return Self.code(of: plugin)
            + request.readable.flatMap { ["--read", $0] }
            + (networkPlugins.contains(plugin.id) ? ["--network"] : [])
            + landlockArguments
    }

    private func start(
        _ port: WorkerPort, _ sockets: [Int32],
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) {
        port.launched = done
        let bound = NIOLoopBound(port, eventLoop: loop)
        let item = NIOLoopBound({ [weak port] in port?.item($0) }, eventLoop: loop)
        let (loop, logger) = (loop, port.logger)
        // Only the connecting is off the loop; everything after it is on the loop.
        Task(executorPreference: QuietExecutor.shared) {
            do {
                let link = try await WorkerLink.connect(
                    calls: sockets[0], stream: sockets[1], questions: sockets[2], item, on: loop,
                    logger: logger)
                loop.execute { bound.value.begin(link) }
            } catch {
                let reason = "\(error)"
                loop.execute { bound.value.fail("could not be connected to: \(reason)") }
            }
        }
    }
}
