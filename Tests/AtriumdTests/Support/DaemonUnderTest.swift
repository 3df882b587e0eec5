import Foundation
import Glibc
import Subprocess
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A real `atriumd` with directories of its own, that can be killed and started again.
final class DaemonUnderTest: Sendable {
    /// What it is started with, beside its directories.
    struct Options: Sendable {
        /// More of the command line.
        var arguments: [String] = []
        /// Words before it, such as `setpriv` and what that takes.
        var prefix: [String] = []
        /// Files of the configuration directory, by name.
        var configuration: [String: String] = [:]
        /// Whether a turn of its event loop may use more than ``HeldUp/bound``.
        var mayHoldUp = false
    }

    private struct Run {
        let pid: pid_t
        let end: Task<Int, any Error>
    }

    let home: TemporaryDirectory
    let tree: Installed
    private let options: Options
    private let notifications: NotifySocket
    private let current = Mutex<Run?>(nil)
    /// How many turns were judged that its log tells of.
    private let judged = Mutex(0)

    var socket: String { home.path + "/run/atrium.sock" }

    /// What it wrote to its standard error, over all its starts.
    var log: String { (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "" }

    /// Its process id; nil while it does not run.
    var pid: pid_t? { current.withLock { $0?.pid } }

    private var logFile: String { home.path + "/log" }

    init(_ options: Options) async throws {
        self.options = options
        tree = try await Installed.tree
        home = try TemporaryDirectory()
        for (name, text) in options.configuration { try home.write("etc/\(name)", text) }
        notifications = try NotifySocket(path: home.path + "/notify")
    }

    /// Starts it, and waits until it says that it is ready.
    func start() async throws {
        try await begin()
        try await ready()
    }

    /// Waits until it says that it is ready.
    func ready() async throws { _ = try await notifications.wait(for: "READY=1") }

    /// Starts it.
    func begin() async throws {
        let words = options.prefix + [tree.bin + "/atriumd"] + arguments
        let environment = daemonEnvironment
        let log = try FileDescriptor.open(
            FilePath(logFile), .writeOnly, options: [.create, .append],
            permissions: .ownerReadWrite)
        let started = AsyncStream.makeStream(of: pid_t.self)
        let notifications = notifications
        notifications.drain()
        let end = Task {
            defer {
                started.continuation.finish()
                notifications.end()
            }
            return try await Subprocess.run(
                executable(words[0]), arguments: Arguments(Array(words.dropFirst())),
                environment: environment, input: .none,
                output: .fileDescriptor(log, closeAfterSpawningProcess: false),
                error: .fileDescriptor(log, closeAfterSpawningProcess: true)
            ) { execution in
                started.continuation.yield(execution.processIdentifier.value)
            }.terminationStatus.number
        }
        var pids = started.stream.makeAsyncIterator()
        guard let pid = await pids.next() else {
            throw Installed.Unusable(description: "not started: \(await end.result)")
        }
        current.withLock { $0 = Run(pid: pid, end: end) }
    }

    /// Sends a signal.
    func signal(_ number: Int32) {
        if let pid { Glibc.kill(pid, number) }
    }

    /// Waits for its end; a turn of its event loop that used too much of a processor is an issue.
    ///
    /// - Returns: its exit status; 128 and more for a signal.
    @discardableResult
    func ended() async throws -> Int {
        guard let run = current.withLock({ $0 }) else { return 0 }
        let status = try await run.end.value
        current.withLock { $0 = nil }
        judgeTurns()
        return status
    }

    private func judgeTurns() {
        let turns = HeldUp.turns(in: log)
        let new = judged.withLock { judged in
            defer { judged = turns.count }
            return turns.dropFirst(judged)
        }
        for turn in new where turn.isTooLong && !options.mayHoldUp {
            Issue.record("A turn of the event loop took too long: \(turn.line)")
        }
    }

    /// `kill -9`, and its end.
    func kill() async throws {
        signal(SIGKILL)
        try await ended()
    }

    /// SIGTERM, and its end; SIGKILL for one that does not end within a minute, which is an issue.
    @discardableResult
    func stop() async throws -> Int {
        signal(SIGTERM)
        let limit = Task {
            try await Task.sleep(for: .seconds(60))
            Issue.record("The daemon did not end within a minute of SIGTERM.\n\(log.suffix(4_000))")
            signal(SIGKILL)
        }
        defer { limit.cancel() }
        return try await ended()
    }

    /// Waits until it says that it stops.
    func stopping() async throws { _ = try await notifications.wait(for: "STOPPING=1") }

    /// Somebody on its socket.
    func peer() throws -> Peer { try Peer(socket) }

    /// Types a command line into a shell that finds our programs and this daemon; nil for `user`:
    /// as who runs the tests.
    func type(_ line: String, as user: UInt32? = nil) async throws -> Finished {
        try await run(
            prefix(for: user) + ["bash", "-c", line], environment: environment, in: home.path)
    }

    /// Reads what a command prints while it runs, line by line; ends it afterwards.
    func follow<Value: Sendable>(
        _ line: String, _ body: (inout RunningCommand) async throws -> Value
    ) async throws -> Value {
        try await withRunning(
            ["bash", "-c", "exec " + line], environment: environment, in: home.path, body)
    }

    /// What a shell needs to find our programs and this daemon.
    var environment: [String: String?] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return withoutHosts.merging([
            "PATH": "\(tree.bin):\(path)", "ATRIUM_SOCKET": socket, "LC_ALL": "C.UTF-8",
            "EXAMPLES": tree.examples, "TMPDIR": home.path,
        ]) { $1 }
    }

    private var arguments: [String] {
        ["--socket", socket, "--state-directory", home.path + "/state"] + options.arguments
    }

    private var daemonEnvironment: Environment {
        let own: [String: String?] = [
            "NOTIFY_SOCKET": notifications.path, "CONFIGURATION_DIRECTORY": home.path + "/etc",
        ]
        return .inherit.updating(withoutHosts.merging(own) { $1 }.keyed)
    }

    private func prefix(for user: UInt32?) throws -> [String] {
        guard let user else { return [] }
        var info = Glibc.stat()
        guard stat(socket, &info) == 0 else { throw SystemFailure(socket) }
        return ["setpriv", "--reuid=\(user)", "--regid=\(info.st_gid)", "--clear-groups"]
    }
}

/// Takes away the variables that say where the host has its own Atrium, and how that is set.
let withoutHosts: [String: String?] = Dictionary(
    uniqueKeysWithValues: ProcessInfo.processInfo.environment.keys
        .filter { $0.hasPrefix("ATRIUM_") || $0.hasPrefix("XDG_") }.map { ($0, nil) })
