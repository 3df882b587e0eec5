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

    let registry: Registry
    let facade: DaemonFacade
    let reloader: Reloader
    /// Makes the table of roles; blocks.
    let roles: @Sendable () -> RoleTable
    let signs: LifeSigns
    let access: AccessBook
    /// Why a peer may not connect at all.
    let refuses: (@Sendable (Peer) -> String?)?
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
        let (reloader, roles) = (reloader, roles)
        let learning = Task(executorPreference: QuietExecutor.shared) {
            await reloader.learnRoles(roles)
        }
        let loaded = try await load()
        // Asked to stop before it served: nobody was promised anything.
        guard !Task.isShuttingDownGracefully else { return await stopRegistry() }
        let server = makeServer()
        facade.serve(with: server)
        await reloader.serve(with: server)
        // Who was here before comes first, and is judged once it is known who has which role.
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
        // Beside serving: who asks for what is not there yet waits for it.
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

    /// Reads what containers there are, and has their components started.
    ///
    /// - Returns: completed once none of them is worth waiting for.
    private func load() async throws -> EventLoopFuture<Void> {
        let (registry, loop) = (registry, loop)
        let known = loop.makePromise(of: Void.self)
        let loaded = loop.makePromise(of: Void.self)
        loop.execute {
            registry.expectDefinitions()
            registry.load(
                { result in
                    loaded.completeWith(result.mapError { $0 as any Error })
                    if case .failure(let error) = result { known.fail(error) }
                }, known: { known.succeed() })
        }
        try await known.futureResult.get()
        return loaded.futureResult
    }

    /// Applies the definitions, waits for all components, and says that the daemon is ready.
    private func becomeReady(_ loaded: EventLoopFuture<Void>) async {
        // Beside the loading: each waits for its own container.
        for line in await reloader.applyAtStart()?.changed ?? [] {
            logger.info("a definition was applied", metadata: ["did": "\(line)"])
        }
        let registry = registry
        loop.execute { registry.definitionsApplied() }
        // What would fail it is thrown while it is loaded.
        try? await loaded.get()
        guard !Task.isCancelled else { return }
        facade.enter(.ready)
        guard let serving = await signs.ready() else { return }
        logger.tell(.ready, ["socket": "\(listener.path)", "serving": "\(serving)"])
    }

    private func makeServer() -> VarlinkServer {
        var router = ControlRouter.make(
            registry: registry, roles: access, daemon: facade, turns: turns, logger: logger)
        let unidentified = router.refuses
        router.refuses = { [refuses] in refuses?($0) ?? unidentified?($0) }
        return VarlinkServer(
            on: loop, router: router, limits: limits, logger: Logger(label: "atrium.varlink"))
    }

    /// Until the daemon is to stop: SIGHUP reloads.
    private func serve(_ hangups: UnixSignalsSequence) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in hangups {
                    _ = await reloader.reload(telling: signs)
                }
            }
            // Ends with an error only if this task is cancelled, which means the same.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func stop(_ server: VarlinkServer) async {
        let (registry, loop) = (registry, loop)
        loop.execute { registry.endWaiting() }
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
                registry.stop { _ in continuation.resume() }
            }
        }
    }
}
