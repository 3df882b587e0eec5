import Glibc

/// Where the daemon's socket is.
enum SocketPath {
    /// The path in use: that of `--socket`, else the environment's, else of the user's own daemon, else of the
    /// machine's; throws for a folder below `/tmp` that is not this user's or root's alone.
    static func find(
        given: String? = nil,
        environment: (String) -> String? = Terminal.environment,
        exists: (String) -> Bool = { access($0, F_OK) == 0 || errno == EACCES },
        uid: uid_t = getuid(),
        check: (_ folder: String, _ uid: uid_t) throws(CommandFailure) -> Void = checkOwner
    ) throws(CommandFailure) -> String {
        if let given { return given }
        if let variable = environment("ATRIUM_SOCKET"), !variable.isEmpty { return variable }
        let temporary = "/tmp/atrium-\(uid)/atrium.sock"
        let runtime = environment("XDG_RUNTIME_DIR").flatMap { $0.isEmpty ? nil : $0 }
            .map { "\($0)/atrium/atrium.sock" }
        let machine = "/run/atrium/atrium.sock"
        if let runtime, exists(runtime) { return runtime }
        if exists(temporary) {
            do {
                try check("/tmp/atrium-\(uid)", uid)
                return temporary
            } catch {
                // Whoever makes that folder does not keep anyone from the machine's daemon.
                guard exists(machine) else { throw error }
            }
        }
        return exists(machine) ? machine : runtime ?? machine
    }

    /// Checks that a folder below `/tmp`, where anyone makes folders, is the user's own or root's: another user
    /// could run a daemon there, read what is sent to it, and reply with lies.
    static func checkOwner(of folder: String, uid: uid_t) throws(CommandFailure) {
        var info = stat()
        let problem: String
        if lstat(folder, &info) != 0 {
            problem = "can't be looked at: \(String(cString: strerror(errno)))"
        } else if info.st_mode & S_IFMT != S_IFDIR {
            problem = "is no folder"
        } else if info.st_uid != uid, info.st_uid != 0 {
            problem = "belongs to \(ActorName.user(info.st_uid) ?? "the user \(info.st_uid)")"
        } else if info.st_mode & 0o022 != 0 {
            problem =
                "may be written to by others (mode \(String(info.st_mode & 0o7777, radix: 8)))"
        } else {
            return
        }
        throw CommandFailure(
            "\(folder) \(problem): the daemon behind its socket may be anyone's",
            hint: "name the socket of the daemon that you trust: --socket PATH, or ATRIUM_SOCKET.",
            status: .unreachable)
    }
}
