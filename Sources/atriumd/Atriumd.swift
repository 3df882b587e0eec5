import ArgumentParser
import Configuration
import CoreMetrics
import Foundation
import Instruments
import Interfaces
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
            the start and on SIGHUP.
            """,
        version: AtriumVersion.current)

    @Option(help: "The control socket's path.")
    var socket: String?

    @Option(help: "Where the store is kept.")
    var stateDirectory: String?

    @Option(help: "A folder with plugins; may be given several times. They run isolated.")
    var pluginPath: [String] = []

    @Option(help: "The configuration file.")
    var config: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel: String?

    @Flag(help: "Check configuration, definitions and plugins, say what is wrong, and exit.")
    var check = false

    func run() async throws {
        let directories = DefaultDirectories(
            environment: ProcessInfo.processInfo.environment, uid: getuid())
        OpenFiles.raiseLimit()
        do {
            // Changes the environment: before there are threads.
            let descriptors = try listenDescriptors()
            let settings = try await DaemonSettings.load(
                file: config, flags: flags, directories: directories)
            guard let level = Logger.Level(rawValue: settings.logLevel) else {
                throw DaemonError(
                    "logLevel: '\(settings.logLevel)' is none of "
                        + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))
            }
            if check {
                guard try Check(settings: settings).passes() else { throw ExitCode(1) }
                return
            }
            MetricsSystem.bootstrap(InstrumentPanel.shared)
            let threshold = LoggingSetup.bootstrap(level: level)
            try await Daemon(
                settings: settings, descriptors: descriptors, threshold: threshold
            ).run()
        } catch let error as ExitCode {
            throw error
        } catch {
            FileHandle.standardError.write(Data("atriumd: \(error)\n".utf8))
            throw ExitCode(1)
        }
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
