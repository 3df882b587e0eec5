import CProcess
import Glibc

/// Services that a program implements, which is started for one connection.
enum ServiceProgram {
    /// Starts a program, passes it the connection the way systemd does, and returns our end of it.
    static func start(_ program: String) throws -> Int32 {
        guard access(program, X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure("can't start '\(program)': \(reason)", status: .unreachable)
        }
        // LISTEN_PID is the program's process number, which the shell has before it becomes the program.
        let script =
            "export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=varlink; exec \"$0\""
        return try spawn(["/bin/sh", "-c", script, program], at: [3])
    }

    /// Starts ssh, which connects to a socket on another machine, and returns our end of the connection.
    static func reach(host: String, _ path: String) throws -> Int32 {
        try spawn(["/usr/bin/env", "ssh", "-e", "none", "-W", path, "--", host], at: [0, 1])
    }

    /// Starts a program with one end of a pair of sockets.
    private static func spawn(_ words: [String], at places: [Int32]) throws -> Int32 {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw problem(words, errno) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Above all places, so that none is overwritten before it is copied, nor closed with the rest.
        let source = fcntl(ends[1], F_DUPFD_CLOEXEC, 10)
        defer { close(source) }
        for place in places { posix_spawn_file_actions_adddup2(&actions, source, place) }
        process_close_from(&actions, max(3, (places.max() ?? 0) + 1))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
        guard code == 0 else {
            close(ends[0])
            throw problem(words, code)
        }
        return ends[0]
    }

    private static func problem(_ words: [String], _ code: Int32) -> CommandFailure {
        CommandFailure(
            "can't start '\(words[0])': \(String(cString: strerror(code)))", status: .unreachable)
    }
}
