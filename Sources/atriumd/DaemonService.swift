import Control
import Host
import LogMessages
import Logging
import NIOCore
import ServiceLifecycle
import Store
import Systemd
import UnixSignals
import Varlink

/// The daemon as a service: starts, serves, and stops when asked.
struct DaemonService: Service {
    /// How long calls under way may take once the daemon is to stop.
    private static let stopDeadline = Duration.seconds(20)
    /// How often old notifications are dropped.
    private static let trimInterval = Duration.seconds(3_600)

    let settings: DaemonSettings
    let registry: Registry
    let store: Store?
    let facade: DaemonFacade
    let loop: any EventLoop
    let listener: Listener
    let logger: Logger

    private var notifier: Notifier { Notifier() }

    func run() async throws {
        notifier.status("loading the store")
        try await load()
        let server: VarlinkServer
        do {
            server = try await listen()
        } catch {
            await stopRegistry()
            throw error
        }
        facade.serve(with: server)
        facade.enter(.ready)
        let status = await readyStatus()
        notifier.ready(status: "serving \(status)")
        logger.tell(.ready, ["socket": "\(settings.socket)", "serving": "\(status)"])
        await serve()
        notifier.stopping()
        logger.tell(.stopping)
        facade.enter(.stopping)
        await server.stop(within: Self.stopDeadline)
        await stopRegistry()
        logger.tell(.stopped)
    }

    private func load() async throws {
        let (registry, loop) = (registry, loop)
        try await withCheckedThrowingContinuation { (continuation: Continuation) in
            loop.execute {
                registry.assumeIsolated { $0.load { continuation.resume(with: $0) } }
            }
        }
        for line in await facade.applyDefinitions() {
            logger.info("a definition was applied", metadata: ["did": "\(line)"])
        }
    }

    private typealias Continuation = CheckedContinuation<Void, any Error>

    private func listen() async throws -> VarlinkServer {
        let roles = try RoleTable(
            settings.roles, ownUser: ownUser, socketGroup: listener.group)
        let router = ControlRouter.make(
            registry: registry, roles: roles, daemon: facade, logger: logger)
        return try await VarlinkServer.start(
            on: loop, at: listener.address, router: router,
            logger: Logger(label: "atrium.varlink"))
    }

    /// Until the daemon is to stop: SIGHUP reads the definitions again, and old notifications go.
    private func serve() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup)
                    .cancelOnGracefulShutdown()
                {
                    for line in await facade.applyDefinitions() {
                        logger.notice("reloaded", metadata: ["did": "\(line)"])
                    }
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
            do {
                try store?.trimNotifications(keeping: settings.notificationsKept)
            } catch {
                logger.tell(.trimFailed, ["reason": "\(error)"])
            }
            try? await Task.sleep(for: Self.trimInterval)
        }
    }

    private func readyStatus() async -> String {
        let (registry, loop) = (registry, loop)
        let status = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: registry.assumeIsolated { $0.status() }) }
        }
        let counted = { (number: Int, noun: String) in "\(number) \(noun)\(number == 1 ? "" : "s")"
        }
        let held = [
            counted(status.containers, "container"), counted(status.items, "item"),
            counted(status.plugins, "plugin"),
        ].joined(separator: ", ")
        let problems = status.problems.count
        return held + (problems == 0 ? "" : "; " + counted(problems, "problem"))
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
