import ArgumentParser
import Interfaces

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Make the daemon read its configuration again.",
        examples: "atriumctl reload")

    @Flag(help: "Print nothing unless it fails; the daemon's log has the changes.")
    var quiet = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        guard let reply = try await session.answer(Daemon.Reload.self, .init()), !quiet
        else { return }
        if reply.changed.isEmpty { Output.line("nothing changed") }
        for change in reply.changed { Output.line(PrintableText.line(change)) }
    }
}

struct LogLevelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level", abstract: "Set how much the daemon logs, until it is restarted.",
        examples: "atriumctl log-level debug")

    @Argument(
        help: "trace, debug, info, notice, warning, error or critical.", completion: .levels)
    var level: String

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        try await session.report(Daemon.SetLogLevel.self, .init(level: level)) { reply in
            "log level \(level), was \(reply.previous)"
        }
    }
}
