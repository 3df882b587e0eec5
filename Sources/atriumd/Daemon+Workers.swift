import Logging
import NIOCore
import Systemd
import Workers

/// The processes of isolated components.
extension Daemon {
    /// Starts isolated components, within what the settings allow them.
    func workers(on loop: any EventLoop) -> WorkerLauncher {
        var limits = WorkerLimits()
        limits.memory = settings.workerMemoryMax == .max ? nil : settings.workerMemoryMax
        limits.tasks = settings.workerTasksMax == 0 ? nil : settings.workerTasksMax
        return WorkerLauncher(
            loop: loop, executable: Installation.worker, logger: logger, limits: limits,
            groups: cgroups(limits), running: runningWorkers,
            turns: meter.notes)
    }

    /// Where systemd gave us a cgroup to divide.
    private func cgroups(_ limits: WorkerLimits) -> WorkerCgroups? {
        let path: String
        do {
            path = try DelegatedCgroup.path()
        } catch {
            logger.debug("workers have no cgroups", metadata: ["reason": "\(error)"])
            return nil
        }
        do {
            return try WorkerCgroups(dividing: path, limits: limits, logger: logger)
        } catch {
            logger.warning("workers have no cgroups", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}
