import CProcess
import Control
import Host
import LogMessages
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals
import Varlink

/// The daemon as a service: starts, serves, and stops on request.
struct DaemonService: Service {
    /// The time that calls in progress may take when the daemon stops.
    private static let stopDeadline = Duration.seconds(20)

    let registry: Registry
    let facade: DaemonFacade
    let reloader: Reloader
    /// Creates the table of roles; blocks.
    let roles: @Sendable () -> RoleTable
    let signs: LifeSigns
    let access: AccessBook
    /// Returns why a peer may not connect at all; nil: it may.
    let refuses: (@Sendable (Peer) -> String?)?
    /// The limits of connections at the start; a reload may change them.
    let limits: VarlinkLimits
    let loop: any EventLoop
    let listener: Listener
    let handover: Handover
    /// Notes about the event loop's present turn.
    let turns: TurnNotes
    let logger: Logger

    func run() async throws {
        // Installed first, because SIGHUP would otherwise end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        await signs.load()
        let (reloader, roles) = (reloader, roles)
        let learning = Task(executorPreference: QuietExecutor.shared) {
            await reloader.learnRoles(roles)
        }
        let loaded = try await load()
        // Stopped before it served: no clients have to be answered.
        guard !Task.isShuttingDownGracefully else { return await stopRegistry() }
        let server = makeServer()
        facade.serve(with: server)
        await reloader.serve(with: server)
        // Handed-over connections come before new ones; those of non-admins wait until roles are known.
        await handover.takeScreens(registry, loop)
        let knowsRoles = await learning.value
        await handover.takeConnections(on: server, ofAdminsAlone: !knowsRoles)
        do {
            try await listener.open(on: server)
        } catch {
            listener.close()
            await stopRegistry()
            throw error
        }
        // Runs while calls are served: calls for containers that are not loaded yet wait.
        let start = Task(executorPreference: QuietExecutor.shared) {
            await becomeReady(loaded)
            await reloader.keepNotifications()
        }
        if !knowsRoles {
            await reloader.whenRolesAreKnown { [handover] in
                await handover.takeConnections(on: server)
            }
        }
        await serve(hangups)
        start.cancel()
        await stop(server)
    }

    /// Reads which containers exist, and starts their components; the returned future completes once no component is
    /// left to wait for.
    private func load() async throws -> EventLoopFuture<Void> {
        let (registry, loop) = (registry, loop)
        let known = loop.makePromise(of: Void.self)
        let loaded = loop.makePromise(of: Void.self)
        loop.execute {
            registry.expected.begin()
            registry.startup.load(
                { result in
                    loaded.completeWith(result.mapError { $0 as any Error })
                    if case .failure(let error) = result { known.fail(error) }
                }, known: { known.succeed() })
        }
        try await known.futureResult.get()
        return loaded.futureResult
    }

    /// Applies the definitions, waits for all components, and reports that the daemon is ready.
    private func becomeReady(_ loaded: EventLoopFuture<Void>) async {
        // While containers are loading: each definition waits for its own container.
        for line in await reloader.applyAtStart()?.changed ?? [] {
            logger.info("a definition was applied", metadata: ["did": "\(line)"])
        }
        let registry = registry
        loop.execute { registry.expected.end() }
        // An error would already have been thrown during loading.
        try? await loaded.get()
        guard !Task.isCancelled else { return }
        facade.enter(.ready)
        if let serving = await signs.ready() {
            logger.log(.ready, ["socket": "\(listener.path)", "serving": "\(serving)"])
        }
        // What the loads have read ahead is freed, and would stay the process's. This is not the event loop's thread.
        process_return_memory()
    }

    private func makeServer() -> VarlinkServer {
        var router = ControlRouter.make(
            registry: registry, roles: access, daemon: facade, turns: turns, logger: logger)
        let unidentified = router.refuses
        router.refuses = { [refuses] in refuses?($0) ?? unidentified?($0) }
        // Between what remains, the allocator keeps what the calls of many clients have freed.
        router.whenCrowdLeft = (
            .seconds(60),
            { Task(executorPreference: QuietExecutor.shared) { process_return_memory() } }
        )
        return VarlinkServer(
            on: loop, router: router, limits: limits, logger: Logger(label: "atrium.varlink"))
    }

    /// Serves until the daemon is stopped; SIGHUP reloads.
    private func serve(_ hangups: UnixSignalsSequence) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in hangups {
                    _ = await reloader.reload(reportingTo: signs)
                }
            }
            // It throws only if this task is cancelled, which also means to stop.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func stop(_ server: VarlinkServer) async {
        let (registry, loop) = (registry, loop)
        loop.execute { registry.shutdown.endWaiting() }
        await reloader.close()
        await signs.stopping()
        logger.log(.stopping)
        facade.enter(.stopping)
        await handover.handOver(from: server, registry, loop, beside: listener.placesInStore)
        listener.close()
        await server.stop(within: Self.stopDeadline)
        await stopRegistry()
        logger.log(.stopped)
    }

    private func stopRegistry() async {
        let (registry, loop) = (registry, loop)
        await withCheckedContinuation { continuation in
            loop.execute {
                registry.shutdown.run { _ in continuation.resume() }
            }
        }
    }
}
