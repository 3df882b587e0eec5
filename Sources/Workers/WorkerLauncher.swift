internal import AtriumKit
public import Host
public import LogMessages
public import Logging
public import NIOCore
internal import PluginLoader

/// Makes components that live in a process of their own: one `atrium-worker` for each.
///
/// What it promises:
///
/// - **The component can't tell.** The worker runs the same harness as the daemon; every value
///   comes back over the socket as it was.
/// - **Order.** Calls reach the component in the order in which they are made and are answered in
///   that order; what the component says between two answers is told between them.
/// - **Nobody waits for a worker.** Nothing blocks the event loop. A call that takes longer than it may
///   (`HostLimits.callTime`) ends its worker, whatever else is called meanwhile.
/// - **An end is told once,** with how the process ended, and then nothing more. Calls that were
///   not answered are never answered. It is the owner who starts the component again.
/// - **A worker is a boundary.** It reads its plugin's folder, what the settings name that the plugin's
///   manifest lists as paths, and the system's libraries; it writes nothing, and reaches no other
///   process (``WorkerWalls``).
/// - **No worker outlives the daemon,** and none is left unreaped. Where it has a cgroup of its own
///   (``WorkerCgroups``), nothing that it started outlives the worker.
public final class WorkerLauncher: ComponentLauncher {
    private let loop: any EventLoop
    private let executable: String
    private let logger: Logger
    private let limits: WorkerLimits
    private let groups: WorkerCgroups?
    private let running: RunningWorkers
    private let networkPlugins: Set<String>
    private let turns: TurnNotes
    /// The version of Landlock that walls are made for, where it is not the kernel's own.
    var landlock: Int32?

    /// A launcher.
    ///
    /// - Parameters:
    ///   - loop: where the owners live: everything is called and told there.
    ///   - executable: the path of `atrium-worker`.
    ///   - logger: told of workers that are started and that end.
    ///   - limits: what a worker may take.
    ///   - groups: gives each worker a cgroup of its own; nil: they stay in the daemon's.
    ///   - running: counts them.
    ///   - networkPlugins: the ids of plugins whose workers may speak to the internet.
    ///   - turns: where it is noted which of them said something.
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
    ///   - request: what the component is made of.
    ///   - owner: told what the component does by itself; held weakly.
    ///   - done: called once, later, on the event loop.
    /// - Returns: ends the worker, unless the component is made already.
    @discardableResult
    public func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        loop.preconditionInEventLoop()
        do throws(WorkerProcess.Problem) {
            let tells = try SocketPair()
            let stream: SocketPair
            do throws(WorkerProcess.Problem) {
                stream = try SocketPair()
            } catch {
                tells.close()
                throw error
            }
            let process: WorkerProcess
            do throws(WorkerProcess.Problem) {
                process = try WorkerProcess(
                    executable, arguments(for: request),
                    descriptors: [tells.theirs, stream.theirs],
                    group: groups?.make(
                        container: request.container, component: request.component),
                    memory: limits.memory, running: running, loop: loop)
            } catch {
                tells.close()
                stream.close()
                throw error
            }
            tells.closeTheirs()
            stream.closeTheirs()
            let port = WorkerPort(request, process, loop, limits, logger, owner, turns)
            start(port, tells, stream, done)
            return { [weak port] in port?.giveUp() }
        } catch {
            done(
                .failure(
                    error.mayPass
                        ? .unavailable(reason: error.reason) : .failed(reason: error.reason)))
            return {}
        }
    }

    /// The library or the program, and what else of the machine its worker may see.
    private func arguments(for request: LaunchRequest) -> [String] {
        let plugin = request.plugin
        let code =
            switch plugin.code {
            case .library(let path): ["--library", path]
            case .program(let path): ["--program", path]
            }
        return code + ["--id", plugin.id]
            + request.readable.flatMap { ["--read", $0] }
            + (networkPlugins.contains(plugin.id) ? ["--network"] : [])
            + (landlock.map { ["--landlock", "\($0)"] } ?? [])
    }

    private func start(
        _ port: WorkerPort, _ tells: SocketPair, _ stream: SocketPair,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) {
        port.launched = done
        let bound = NIOLoopBound(port, eventLoop: loop)
        let loop = loop
        // The one hop of a component's life: from here on everything is on the loop.
        Task(executorPreference: QuietExecutor.shared) {
            do {
                let link = try await WorkerLink.connect(
                    tells: tells.ours, stream: stream.ours, on: loop)
                loop.execute { bound.value.begin(link) }
            } catch {
                let reason = "\(error)"
                loop.execute { bound.value.fail("could not be connected to: \(reason)") }
            }
        }
    }
}
