import ArgumentParser
import Configuration
import CoreMetrics
import Foundation
import Host
import Instruments
import Interfaces
import LogMessages
import Logging
import Systemd

/// The daemon's command line.
@main
struct Atriumd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "atriumd",
        abstract: "A live, filterable catalogue that people vote on and discuss.",
        discussion: """
            Settings come from flags, then from ATRIUM_… in the environment, then from atrium.yaml \
            in the configuration directory. Definitions in containers.d/ beside it are applied at \
            the start, and both are read again on SIGHUP.

            Ends with 0 once it was stopped; with 64 for a wrong command line, 78 for a wrong \
            setting, 77 where it may not read or write, 65 for a store that it can't use, 75 where \
            trying again later may help, and 70, 71, 73 or 74 for what else kept it from starting; \
            --check ends with 78 or 77 where the settings would keep it from starting, with 74 where its report \
            can't be written, and with 1 where something else is wrong: a definition, a plugin, a role. --restore ends in the same ways.
            """,
        version: AtriumVersion.current)

    @Option(
        help: """
            The control socket's path; by default /run/atrium/atrium.sock, for an ordinary user \
            $XDG_RUNTIME_DIR/atrium/atrium.sock.
            """)
    var socket: String?

    @Option(
        help: """
            The state directory, which has the store; by default /var/lib/atrium, for an ordinary user \
            ~/.local/state/atrium.
            """)
    var stateDirectory: String?

    @Option(help: "A folder with plugins; may be given several times. They run isolated.")
    var pluginPath: [String] = []

    @Option(
        help: """
            The configuration file; by default /etc/atrium/atrium.yaml, for an ordinary user \
            ~/.config/atrium/atrium.yaml.
            """)
    var config: String?

    @Option(help: "trace, debug, info (the default), notice, warning, error or critical.")
    var logLevel: String?

    @Flag(help: "Check settings, definitions and plugins, say what is wrong, and exit.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Put a backup in the place of the store, and exit; - reads it from standard input.",
            valueName: "file"),
        completion: .file())
    var restore: String?

    @Flag(help: "With --restore: keep a store that is there under another name.")
    var replace = false

    func validate() throws {
        guard restore == nil || !check else {
            throw ValidationError("--check and --restore are two things: leave one out.")
        }
        guard restore != nil || !replace else {
            throw ValidationError("--replace goes with --restore.")
        }
    }

    /// Runs the command line, and waits until all messages to the service manager are sent.
    ///
    /// It starts on the main actor, so that tasks run only on the executors that are given to them.
    @MainActor
    static func main() async {
        do {
            var command = try parseAsRoot(try words())
            if let daemon = command as? Atriumd {
                try await withTaskExecutorPreference(QuietExecutor.shared) {
                    var daemon = daemon
                    try await daemon.run()
                }
            } else {
                try command.run()
            }
            Notifier().barrier()
        } catch {
            let isUsage = exitCode(for: error) == .validationFailure
            if isUsage { Notifier().failed(errno: EINVAL, status: message(for: error)) }
            Notifier().barrier()
            guard isUsage else { finish(error) }
            report(fullMessage(for: error).replacing("Error: ", with: "", maxReplacements: 1))
            Foundation.exit(ExitCode.validationFailure.rawValue)
        }
    }

    /// Ends the process; the help and the like are printed before, which the parser does without a look at whether they
    /// can be.
    private static func finish(_ error: any Error) -> Never {
        let text = fullMessage(for: error)
        guard exitCode(for: error) == .success, !text.isEmpty else { exit(withError: error) }
        do {
            try Check.say(text)
        } catch {
            report("\(error)")
            Foundation.exit(StartFailure(error).status.rawValue)
        }
        Foundation.exit(ExitCode.success.rawValue)
    }

    private static func words() throws(ValidationError) -> [String] {
        do throws(CommandLineText.Problem) {
            return try CommandLineText.words()
        } catch {
            throw ValidationError("\(error.sentence).")
        }
    }

    mutating func run() async throws {
        let source = DaemonSettings.Source(
            file: config, flags: flags,
            directories: DefaultDirectories(
                environment: ProcessInfo.processInfo.environment, uid: getuid()))
        if check { return try await checkOnly(source) }
        if let restore { return try await restoreOnly(restore, source) }
        OpenFiles.raiseLimit()
        let settings: DaemonSettings
        let inheritance: Daemon.Inheritance
        do {
            // Changes the environment, so it has to run before there are threads.
            inheritance = try Daemon.Inheritance.receive()
            settings = try await DaemonSettings.load(source)
        } catch {
            LoggingSetup.bootstrap(level: .info)
            throw report(StartFailure(error))
        }
        MetricsSystem.bootstrap(InstrumentPanel.shared)
        let threshold = LoggingSetup.bootstrap(level: settings.logLevel)
        do {
            try await Daemon(
                settings: settings, source: source, inheritance: inheritance, threshold: threshold
            ).run()
        } catch {
            throw report(StartFailure(error))
        }
    }

    private func restoreOnly(_ file: String, _ source: DaemonSettings.Source) async throws {
        do {
            let settings = try await DaemonSettings.load(source)
            try Restore(settings: settings, config: config).run(file, replacing: replace)
        } catch {
            Self.report("\(error)")
            throw ExitCode(StartFailure(error).status.rawValue)
        }
    }

    /// Prints why the command failed, after the name that it was called by, which `atriumctl restore` sets to its own.
    private static func report(_ reason: String) {
        let name = CommandLine.arguments.first?.split(separator: "/").last ?? "atriumd"
        FileHandle.standardError.write(Data("\(name): \(reason)\n".utf8))
    }

    private func checkOnly(_ source: DaemonSettings.Source) async throws {
        let folder = source.directories.configuration
        let user = source.file == nil ? Check.becomeServiceUser(of: folder) : nil
        do {
            if let user {
                try Check.say("checked as the user '\(user)', whom the service runs as")
            }
            let settings = try await DaemonSettings.load(source)
            guard try await Check(settings: settings).passes() else { throw ExitCode(1) }
        } catch let error as ExitCode {
            throw error
        } catch {
            Self.report("\(error)")
            throw ExitCode(StartFailure(error).status.rawValue)
        }
    }

    /// Reports why the process ends, to the log and to the service manager.
    private func report(_ failure: StartFailure) -> ExitCode {
        Logger(label: "atriumd").log(failure.message, ["reason": "\(failure.reason)"])
        Notifier().failed(errno: failure.errno, status: failure.reason)
        return ExitCode(failure.status.rawValue)
    }

    private var flags: [String: ConfigValue] {
        var flags: [String: ConfigValue] = [:]
        flags["socket"] = socket.map { ConfigValue(.string($0), isSecret: false) }
        flags["stateDirectory"] = stateDirectory.map { ConfigValue(.string($0), isSecret: false) }
        flags["logLevel"] = logLevel.map { ConfigValue(.string($0), isSecret: false) }
        if !pluginPath.isEmpty {
            flags["pluginPath"] = ConfigValue(.stringArray(pluginPath), isSecret: false)
        }
        return flags
    }
}
