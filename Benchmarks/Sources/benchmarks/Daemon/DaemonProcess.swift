import Foundation

/// A daemon of its own, with an empty store: started, measured, and gone without a trace.
final class DaemonProcess {
    /// How long a start may take.
    private static let patience = 30.0

    /// Its control socket.
    let socket: String
    private let process = Process()
    private let directory: URL
    private let log: URL

    /// Starts a daemon and waits until it answers.
    ///
    /// - Parameters:
    ///   - program: the path of `atriumd`, of a release build with its plugins beside it.
    ///   - directory: where its store goes, on the disk that is measured; made here, removed at the end.
    /// - Throws: ``BenchmarkError`` with what the daemon said, where it does not answer.
    init(program: String, directory: URL) throws {
        self.directory = directory
        // Not below the directory: a socket's path has a hundred bytes.
        socket = "/tmp/atrium-benchmarks-\(ProcessInfo.processInfo.processIdentifier).sock"
        log = directory.appending(path: "log")
        let configuration = directory.appending(path: "configuration")
        try FileManager.default.createDirectory(
            at: configuration, withIntermediateDirectories: true)
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
            throw BenchmarkError("\(log.path) can't be made")
        }
        let output = try FileHandle(forWritingTo: log)
        // When this program is interrupted, the daemon ends as well.
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        process.arguments = [
            "--pdeathsig", "TERM", program, "--socket", socket, "--state-directory",
            directory.appending(path: "state").path,
            "--log-level", "warning",
        ]
        process.environment = Self.environment(configuration: configuration.path)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try awaitAnswer()
    }

    deinit {
        stop()
    }

    /// Its process id.
    var pid: Int32 { process.processIdentifier }

    /// What it logged so far, and whether it is still there.
    var said: String {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        guard !process.isRunning else { return text }
        let how = process.terminationReason == .exit ? "exited with" : "was ended by signal"
        return text + "(it \(how) \(process.terminationStatus))"
    }

    /// Opens a connection.
    func connect() throws -> Connection {
        try Connection(path: socket)
    }

    /// Ends it and removes what it kept; harmless when it is gone already.
    func stop() {
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: directory)
    }

    private func awaitAnswer() throws {
        let clock = ContinuousClock()
        let start = clock.now
        while process.isRunning, (clock.now - start).seconds < Self.patience {
            if let connection = try? connect() {
                _ = try connection.call("org.varlink.service.GetInfo")
                return
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        let said = said
        stop()
        throw BenchmarkError("atriumd does not answer on \(socket). It said: \(said)")
    }

    /// Ours without what would set up this daemon as the machine's.
    private static func environment(configuration: String) -> [String: String] {
        let strange = ["ATRIUM_", "NOTIFY_", "WATCHDOG_", "LISTEN_", "JOURNAL_"]
        var environment = ProcessInfo.processInfo.environment.filter { name, _ in
            !strange.contains { name.hasPrefix($0) }
        }
        environment["CONFIGURATION_DIRECTORY"] = configuration
        return environment
    }
}
