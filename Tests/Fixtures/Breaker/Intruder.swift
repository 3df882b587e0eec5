import Glibc

/// Tries what a plugin has no business with, and tells how it went.
enum Intruder {
    /// What can be tried, by name.
    static let attempts: [String: @Sendable () -> String] = [
        "write": { outcome(of: open("/usr/local/atrium-was-here", O_CREAT | O_WRONLY, 0o644)) },
        "configure": { outcome(of: open("/etc/atrium/atrium.yaml", O_WRONLY)) },
        "home": { outcome(of: open("/home/atrium-stranger/diary", O_RDONLY)) },
        "other-store": { outcome(of: open("/var/lib/private", O_RDONLY)) },
        "network": { outcome(of: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) },
        "netlink": { outcome(of: socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0)) },
        "process": { outcome(of: open("/proc/1/environ", O_RDONLY)) },
        "machine": { outcome(of: open("/proc/cpuinfo", O_RDONLY)) },
        "signal": { outcome(of: Glibc.kill(1, SIGTERM)) },
        "disk": { outcome(of: mknod("/var/lib/atrium/disk", S_IFBLK | 0o600, 0)) },
        "cgroup": { outcome(of: open("/sys/fs/cgroup/cgroup.procs", O_WRONLY)) },
        "shell": { start("/bin/sh", ["-c", "exit 0"]) },
        "loader": { start("/lib64/ld-linux-x86-64.so.2", ["/bin/sh", "-c", "exit 0"]) },
        "own-program": { ownProgram() },
        "own-code": {
            let protection = PROT_READ | PROT_WRITE | PROT_EXEC
            let memory = mmap(nil, 4_096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            return outcome(of: memory == MAP_FAILED ? -1 : 0)
        },
        "set-user-id": {
            let descriptor = open("/var/lib/atrium/program", O_CREAT | O_WRONLY, 0o600)
            return outcome(of: fchmod(descriptor, 0o4755))
        },
        "child": { start("/usr/bin/sleep", ["infinity"], wait: false) },
        "memory": { memory() },
        // io_uring_setup
        "queue": { outcome(ofCall: 425, 1, 0) },
        // pidfd_getfd
        "fetch": { outcome(ofCall: 438, -1, 0, 0) },
        "own-namespace": {
            // CLONE_NEWUSER, and SIGCHLD at its end; a child that was let through ends at once.
            outcome(ofCall: cloneNumber, 0x1000_0000 | 17, 0, 0, 0, 0)
        },
        "datagrams": {
            var ends: [Int32] = [-1, -1]
            return outcome(of: socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends))
        },
    ]

    /// What can be tried on a path or a process, by name.
    static let attemptsOn: [String: @Sendable (String) -> String] = [
        "connect": { connect(to: $0) },
        "read": { outcome(of: open($0, O_RDONLY)) },
        "truncate": { outcome(of: Glibc.truncate($0, 0)) },
        "empty": { outcome(of: open($0, O_RDONLY | O_TRUNC)) },
        // An access mode that is none: the kernel opens the file for neither reading nor writing.
        "empty-unopened": { outcome(of: open($0, O_ACCMODE | O_TRUNC)) },
        "change-mode": { outcome(of: chmod($0, 0o777)) },
        "cat": { start("/bin/cat", [$0]) },
        "kill": { outcome(of: Glibc.kill(pid_t($0) ?? 0, SIGCONT)) },
        "trace": { process in
            typealias Trace = @convention(c) (Int32, pid_t, Int, Int) -> Int
            // PTRACE_SEIZE
            return call("ptrace", as: Trace.self) { $0(0x4206, pid_t(process) ?? 0, 0, 0) }
        },
        // process_vm_readv
        "peek": { process in
            outcome(ofCall: peekNumber, Int(process) ?? 0, 0, 0, 0, 0, 0)
        },
        // kcmp
        "compare": { process in
            let process = Int(process) ?? 0
            return outcome(ofCall: compareNumber, process, process, 1, 0, 0)
        },
        // F_SETOWN
        "set-owner": { process in
            outcome(of: fcntl(STDOUT_FILENO, 8, pid_t(process) ?? 0))
        },
        "limit": { process in
            typealias Limit =
                @convention(c) (pid_t, Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) ->
                Int32
            var limit = rlimit()
            return call("prlimit", as: Limit.self) {
                Int($0(pid_t(process) ?? 0, 7, nil, &limit))
            }
        },
    ]

    /// Calls a function of the C library that Swift does not show.
    private static func call<Function>(
        _ name: String, as type: Function.Type, _ body: (Function) -> Int
    ) -> String {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), name) else { return "not there" }
        return outcome(of: Int32(truncatingIfNeeded: body(unsafeBitCast(symbol, to: type))))
    }

    #if arch(x86_64)
        private static let (peekNumber, compareNumber, cloneNumber) = (310, 312, 56)
    #else
        private static let (peekNumber, compareNumber, cloneNumber) = (270, 272, 220)
    #endif

    /// Makes a call to the kernel by its number.
    private static func outcome(ofCall number: Int, _ arguments: Int...) -> String {
        typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int
        let given = arguments + Array(repeating: 0, count: 6 - arguments.count)
        return call("syscall", as: Call.self) { call in
            let result = call(
                number, given[0], given[1], given[2], given[3], given[4], given[5])
            if number == cloneNumber, result == 0 { _exit(0) }
            return result
        }
    }

    private static func connect(to path: String) -> String {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return outcome(of: -1) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, size)
            }
        }
        return outcome(of: result)
    }

    private static func outcome(of result: Int32) -> String {
        result >= 0 ? "succeeded" : String(cString: strerror(errno))
    }

    /// Writes a program to where the daemon may write, and runs it.
    private static func ownProgram() -> String {
        let path = "/var/lib/atrium/program"
        let descriptor = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o700)
        guard descriptor >= 0 else { return "could not be written" }
        let text = "#!/usr/local/bin/atriumctl\n"
        _ = text.withCString { write(descriptor, $0, strlen($0)) }
        fchmod(descriptor, 0o700)
        close(descriptor)
        return start(path, [])
    }

    private static func start(_ program: String, _ words: [String], wait: Bool = true) -> String {
        let arguments = ([program] + words).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, nil, nil, arguments + [nil], environ)
        guard code == 0 else { return String(cString: strerror(code)) }
        var status: Int32 = 0
        guard wait, waitpid(process, &status, 0) == process else { return "succeeded" }
        return status == 0 ? "succeeded" : "status \(status >> 8)"
    }

    /// Takes memory until there is none, or a gibibyte is taken.
    private static func memory() -> String {
        for _ in 0..<1_024 {
            guard let block = malloc(1 << 20) else { return "refused" }
            memset(block, 1, 1 << 20)
        }
        return "succeeded"
    }
}
