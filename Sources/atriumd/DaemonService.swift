import Control
import Host
import LogMessages
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals
import Varlink

/// The daemon as a service: starts, serves, and stops when asked.
struct DaemonService: Service {
    /// How long calls under way may take once the daemon is to stop.
    private static let stopDeadline = Duration.seconds(20)
    /// How often old notifications are dropped.
    private static let trimInterval = Duration.seconds(3_600)

    let registry: Registry
    let facade: DaemonFacade
    let reloader: Reloader
    let signs: LifeSigns
    let access: AccessBook
    /// What connections may use up, until a reload says otherwise.
    let limits: VarlinkLimits
    let loop: any EventLoop
    let listener: Listener
    let handover: Handover
    /// Where the loop's present turn is noted.
    let turns: TurnNotes
    let logger: Logger

    func run() async throws {
        // From the first moment: the signal would end the process otherwise.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        await signs.load()
        try await load()
        // Asked to stop before it was ready: nobody was promised anything.
        guard !Task.isShuttingDownGracefully else { return await stopRegistry() }
        let server = makeServer()
        facade.serve(with: server)
        await reloader.serve(with: server)
        // All is loaded: nobody who is answered from here on is told that it is not.
        facade.enter(.ready)
        // Who was here before comes first.
        await handover.takeOver(on: server, registry, loop)
        loop.execute { [registry, access] in
            registry.assumeIsolated { RoleReview.endUnreadScreens(of: $0, by: access) }
        }
        do {
            try await listener.open(on: server)
        } catch {
            listener.close()
            await stopRegistry()
            throw error
        }
        let serving = await signs.ready()
        logger.tell(.ready, ["socket": "\(listener.path)", "serving": "\(serving)"])
        await serve(hangups)
        await stop(server)
    }

    private func load() async throws {
        let (registry, loop) = (registry, loop)
        try await withCheckedThrowingContinuation { (continuation: Continuation) in
            loop.execute {
                registry.assumeIsolated { $0.load { continuation.resume(with: $0) } }
            }
        }
        for line in await reloader.applyDefinitions().changed {
            logger.info("a definition was applied", metadata: ["did": "\(line)"])
        }
    }

    private typealias Continuation = CheckedContinuation<Void, any Error>

    private func makeServer() -> VarlinkServer {
        let router = ControlRouter.make(
            registry: registry, roles: access, daemon: facade, turns: turns, logger: logger)
        return VarlinkServer(
            on: loop, router: router, limits: limits, logger: Logger(label: "atrium.varlink"))
    }

    /// Until the daemon is to stop: SIGHUP reloads, and old notifications go.
    private func serve(_ hangups: UnixSignalsSequence) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in hangups {
                    _ = await reloader.reload(telling: signs)
                }
            }
            group.addTask { await trimNotifications() }
            // Ends with an error only if this task is cancelled, which means the same.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func trimNotifications() async {
        while !Task.isCancelled {
            await reloader.trimNotifications()
            await pause(Self.trimInterval)
        }
    }

    /// Waits that long or until the task is cancelled, by the event loop's timer: one of Swift's own
    /// would end on the pool that the daemon keeps clear of (``QuietExecutor``).
    private func pause(_ duration: Duration) async {
        let timer = loop.scheduleTask(in: TimeAmount(duration)) {}
        await withTaskCancellationHandler {
            // Fails when the timer is cancelled.
            try? await timer.futureResult.get()
        } onCancel: {
            timer.cancel()
        }
    }

    private func stop(_ server: VarlinkServer) async {
        await reloader.close()
        await signs.stopping()
        logger.tell(.stopping)
        facade.enter(.stopping)
        await handover.handOver(from: server, registry, loop, beside: listener.placesInStore)
        listener.close()
        await server.stop(within: Self.stopDeadline)
        await stopRegistry()
        logger.tell(.stopped)
    }

    private func stopRegistry() async {
        let (registry, loop) = (registry, loop)
        await withCheckedContinuation { continuation in
            loop.execute {
                registry.assumeIsolated { $0.stop { _ in continuation.resume() } }
            }
        }
    }
}
