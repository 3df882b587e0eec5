import Logging
import NIOCore
import Systemd
import Varlink
import Workers

/// Starts and limits the workers of isolated components.
extension Daemon {
    /// Creates the launcher that starts workers, with the limits of the settings.
    func workers(on loop: any EventLoop, in groups: WorkerCgroups?) -> WorkerLauncher {
        for reason in WorkerWalls.missing {
            logger.warning(
                "workers run without a complete sandbox", metadata: ["reason": "\(reason)"])
        }
        return WorkerLauncher(
            loop: loop, executable: Installation.worker, logger: logger, limits: workerLimits,
            groups: groups, running: runningWorkers,
            networkPlugins: Set(settings.networkPlugins), turns: meter.notes)
    }

    /// Returns why a peer may not connect: a worker must not connect to the control socket.
    func refusal(
        of groups: WorkerCgroups?
    ) -> (@Sendable (Peer) -> String?)? {
        guard let groups else { return nil }
        return { peer in
            // Workers run as the daemon's own user, so processes of other users need no check.
            guard peer.uid == ownUser, groups.holds(peer.pid) else { return nil }
            return "it is a worker's process, and plugins speak to the daemon through the kit"
        }
    }

    private var workerLimits: WorkerLimits {
        var limits = WorkerLimits()
        limits.memory = settings.workerMemoryMax == .max ? nil : settings.workerMemoryMax
        limits.tasks = settings.workerTasksMax == 0 ? nil : settings.workerTasksMax
        limits.processor = settings.workerCpuMax == 0 ? nil : settings.workerCpuMax
        return limits
    }

    /// The cgroup that systemd delegated to the daemon, if any.
    func workerCgroups() -> WorkerCgroups? {
        let path: String
        do {
            path = try DelegatedCgroup.path()
        } catch {
            logger.debug("workers have no cgroups", metadata: ["reason": "\(error)"])
            return nil
        }
        do {
            return try WorkerCgroups(dividing: path, limits: workerLimits, logger: logger)
        } catch {
            logger.warning("workers have no cgroups", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}
