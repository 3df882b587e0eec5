internal import CProcess
internal import Glibc
internal import NIOCore

/// One worker process: starts, ends and reaps it.
///
/// The kernel closes the process's sockets when it ends, which is how the daemon notices. The daemon then polls
/// until the kernel reports the exit status. Processes that the worker started end with it if it has a cgroup; otherwise
/// those that are below it when it is ended.
///
/// Use it on the event loop only.
final class WorkerProcess {
    /// Why a process could not be started.
    struct Problem: Error {
        /// The system's error.
        let reason: String
        /// Whether a retry may help.
        let mayPass: Bool
    }

    let id: pid_t
    /// The descriptor to read the worker's output from.
    let output: Int32
    private let loop: any EventLoop
    private let group: WorkerCgroup?
    private let running: RunningWorkers
    /// The bytes of memory that it may allocate, if no cgroup limits its memory; nil: no limit.
    private let memoryLimit: Int?
    private var isKilled = false
    private var isReaped = false
    /// The processes below it when it was ended, if it has no cgroup.
    private var tree = ProcessTree()

    /// Starts a worker.
    ///
    /// - Parameters:
    ///   - executable: the program's path.
    ///   - arguments: the arguments after the program's name.
    ///   - descriptors: the descriptors that become the worker's from 3 on; the caller closes its own.
    ///   - group: the worker's cgroup, if it has one; it is removed with the worker.
    ///   - memory: the bytes of memory that it may allocate, unless its cgroup limits its memory; nil: no limit.
    ///   - running: counts the worker until it is reaped.
    ///   - loop: the event loop that it is used on.
    /// - Throws: the reason why the program can't be started.
    init(
        _ executable: String, _ arguments: [String], descriptors: [Int32], group: WorkerCgroup?,
        memory: Int?, running: RunningWorkers, loop: any EventLoop
    ) throws(Problem) {
        (self.loop, self.group, self.running) = (loop, group, running)
        memoryLimit = group?.limitsMemory == true ? nil : memory
        let (output, printed) = try WorkerOutput.pipe(or: group, on: loop)
        self.output = output
        defer { close(printed) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for stream in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, printed, stream)
        }
        for (index, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(3 + index))
        }
        // Closes everything else, including descriptors that were opened without O_CLOEXEC.
        process_close_from(&actions, Int32(3 + descriptors.count))
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.resetSignals(&attributes)
        var pid: pid_t = 0
        let words = ([executable] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        let variables = WorkerEnvironment.copy(of: environ)
        defer { for variable in variables { free(variable) } }
        let code = posix_spawn(&pid, executable, &actions, &attributes, words + [nil], variables)
        guard code == 0 else {
            group?.end(on: loop)
            close(output)
            throw Problem(
                reason: "The worker \(executable) can't be started: "
                    + "\(String(cString: strerror(code))).",
                mayPass: ![ENOENT, EACCES, ENOEXEC, ENOTDIR].contains(code))
        }
        id = pid
        running.begin()
        // Before the worker is asked to make a component: no code of a plugin has run by then.
        try? group?.add(pid)
        if let memoryLimit { _ = process_limit_memory(pid, UInt64(memoryLimit)) }
    }

    /// Resets the signals that the daemon ignores (SIGPIPE) or may block.
    private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    /// Returns what the process and its program do, as the rest of a sentence, with their processor time so far.
    ///
    /// Nil: the kernel does not report it.
    var activity: String? {
        guard let own = ProcessActivity(of: "\(id)") else { return nil }
        let program = own.children.compactMap { ProcessActivity(of: $0) }
            .max { $0.state < $1.state }
        return "\(own.words) of processor time since its start"
            + (program.map { "; its program: \($0.words)" } ?? "")
    }

    /// Kills the process and its cgroup, unless it has ended.
    func kill() {
        guard !isReaped, !isKilled else { return }
        isKilled = true
        findTree()
        Glibc.kill(id, SIGKILL)
        group?.kill()
    }

    /// Finds the processes below it, which end with it; this is possible as long as its program runs.
    func findTree() {
        if group == nil, !isReaped { tree.add(ProcessTree(below: id)) }
    }

    /// Sends SIGABRT, so that the worker prints a backtrace if it can; call ``reap(within:_:)`` after it.
    func abort() {
        guard !isReaped, !isKilled else { return }
        findTree()
        Glibc.kill(id, SIGABRT)
    }

    /// Waits for the process to end, and kills it if that takes longer than the grace; `done` gets the way in which
    /// it ended, as the rest of a sentence.
    func reap(within grace: TimeAmount, _ done: @escaping (String) -> Void) {
        findTree()
        poll(until: .now() + grace, pause: .milliseconds(1), done)
    }

    /// Reaps the process if it has ended; otherwise tries again, after longer and longer pauses.
    private func poll(
        until deadline: NIODeadline, pause: TimeAmount, _ done: @escaping (String) -> Void
    ) {
        var status: Int32 = 0
        var usage = rusage()
        let found = wait4(id, &status, WNOHANG, &usage)
        if found == id || (found < 0 && errno == ECHILD) {
            isReaped = true
            // Read before the cgroup is removed.
            let verdict =
                status & 0x7f == SIGKILL ? group?.memoryVerdict : memoryVerdict(status, usage)
            group?.end(on: loop)
            tree.kill()
            running.end()
            return done(verdict ?? (found == id ? Self.describe(status) : "ended"))
        }
        if NIODeadline.now() >= deadline { kill() }
        let again = NIOLoopBound((self, done), eventLoop: loop)
        loop.scheduleTask(in: pause) {
            let (process, done) = again.value
            process.poll(until: deadline, pause: min(pause * 2, .milliseconds(20)), done)
        }
    }

    /// Why lack of memory is the likely cause of the end, as the rest of a sentence; nil: it is not.
    private func memoryVerdict(_ status: Int32, _ usage: rusage) -> String? {
        let most = Int(usage.ru_maxrss) << 10
        guard let memoryLimit, status & 0x7f != 0, most >= memoryLimit / 4 * 3 else { return nil }
        return "\(Self.describe(status)) when it had \(most >> 20) MiB of memory, where "
            + "\(memoryLimit >> 20) MiB are allowed (workerMemoryMax)"
    }

    /// Describes an exit status of `waitpid`, as the rest of a sentence.
    static func describe(_ status: Int32) -> String {
        let signal = status & 0x7f
        guard signal != 0 else { return "ended with status \((status >> 8) & 0xff)" }
        let name = signalNames[signal] ?? "signal \(signal)"
        return "was ended by \(name) (\(String(cString: strsignal(signal))))"
    }

    private static let signalNames: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL",
        SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
        SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM",
        SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGSYS: "SIGSYS",
    ]
}

/// Two connected sockets that started programs don't inherit.
struct SocketPair {
    /// The daemon's end.
    let ours: Int32
    /// The worker's end.
    let theirs: Int32

    init() throws(WorkerProcess.Problem) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw Self.problem() }
        // Above the descriptors that the worker's ends are duplicated to.
        let moved = fcntl(pair[1], F_DUPFD_CLOEXEC, 64)
        guard moved >= 0 else {
            let problem = Self.problem()
            Glibc.close(pair[0])
            Glibc.close(pair[1])
            throw problem
        }
        Glibc.close(pair[1])
        ours = pair[0]
        theirs = moved
    }

    func close() {
        Glibc.close(ours)
        Glibc.close(theirs)
    }

    func closeTheirs() { Glibc.close(theirs) }

    private static func problem() -> WorkerProcess.Problem {
        WorkerProcess.Problem(
            reason: "No sockets for a worker: \(String(cString: strerror(errno))).",
            mayPass: true)
    }
}
