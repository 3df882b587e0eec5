internal import Glibc
public import Logging

/// The cgroups of workers, in the cgroup that systemd gave to the daemon.
///
/// ```
/// atriumd.service           the daemon's cgroup; it may hold cgroups or processes, not both
///   main                    the daemon
///   workers
///     films.stars           the worker of one component, and all processes that it started
/// ```
///
/// So a worker ends with all its descendants and has limits of its own. A busy one takes at most
/// half of the processors from the daemon, and `systemd-cgtop` shows what each one uses.
public final class WorkerCgroups: Sendable {
    private static let wanted = ["cpu", "memory", "pids"]

    private let workers: CgroupFolder
    private let limits: WorkerLimits
    private let logger: Logger
    /// The controllers that are enabled for workers.
    private let controllers: Set<String>
    /// The kernel's path of the workers' cgroups; nil: it could not be read.
    private let prefix: String?

    /// Divides a cgroup, which must contain no process but this one, and moves this process into one of its parts;
    /// throws the operation that the kernel refused, as a sentence.
    public init(
        dividing path: String, limits: WorkerLimits, logger: Logger
    ) throws {
        let top = CgroupFolder(path: path)
        try top.find("main").write("\(getpid())", to: "cgroup.procs")
        let workers = try top.find("workers")
        workers.removeEmpty()
        let offered = Set(top.files.words(of: "cgroup.controllers").map(String.init))
        controllers = Set(
            Self.wanted.filter { name in
                guard offered.contains(name) else { return false }
                do {
                    try top.write("+\(name)", to: "cgroup.subtree_control")
                    try workers.write("+\(name)", to: "cgroup.subtree_control")
                    return true
                } catch {
                    logger.debug("a controller is not divided", metadata: ["reason": "\(error)"])
                    return false
                }
            })
        prefix = Self.cgroup(of: getpid()).map { String($0.dropLast("main".count)) + "workers/" }
        self.workers = workers
        self.limits = limits
        self.logger = logger
        warnOfLimits()
    }

    /// Whether a process is a worker, or was started by one.
    public func holds(_ process: Int32) -> Bool {
        guard let prefix, let cgroup = Self.cgroup(of: process) else { return false }
        return cgroup.hasPrefix(prefix)
    }

    /// The kernel's path of a process's cgroup, in version 2.
    private static func cgroup(of process: Int32) -> String? {
        KernelFolder(path: "/proc/\(process)").words(of: "cgroup")
            .first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) }
    }

    private func warnOfLimits() {
        guard limits.memory != nil, !controllers.contains("memory") else { return }
        logger.debug(
            "workers are limited in what memory they ask for: the service is given no memory controller",
            metadata: ["path": "\(workers.path)"])
    }

    /// Makes a cgroup for a worker that is about to be started.
    ///
    /// Returns nil when the kernel refuses one; the component works without it.
    func make(container: String, component: String) -> WorkerCgroup? {
        let name = Self.escaped(container) + "." + Self.escaped(component)
        do {
            let group = WorkerCgroup(
                try unused(name), memoryLimit: limits.memory,
                limitsMemory: controllers.contains("memory"))
            if controllers.contains("memory") {
                try group.folder.write(limits.memory.map(String.init) ?? "max", to: "memory.max")
                // When memory runs out, the kernel kills all processes of the worker: some of them alone are of no use.
                try group.folder.write("1", to: "memory.oom.group")
            }
            if controllers.contains("pids") {
                try group.folder.write(limits.tasks.map(String.init) ?? "max", to: "pids.max")
            }
            if controllers.contains("cpu") {
                // The most microseconds of processor time in each tenth of a second.
                let most = limits.processor.map { "\($0 * 1_000)" } ?? "max"
                try group.folder.write("\(most) 100000", to: "cpu.max")
            }
            return group
        } catch {
            logger.warning("a worker has no cgroup of its own", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Makes a cgroup under a name that is free: the predecessor's may still be there.
    private func unused(_ name: String) throws(CgroupFolder.Problem) -> CgroupFolder {
        var attempt = 1
        while true {
            do throws(CgroupFolder.Problem) {
                return try workers.make(attempt == 1 ? name : "\(name)~\(attempt)")
            } catch  where error.code == EEXIST && attempt < 100 {
                attempt += 1
            }
        }
    }

    /// Escapes characters that have a meaning in paths or in the cgroups' names, as systemd does.
    static func escaped(_ name: String) -> String {
        name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default:
                "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}
