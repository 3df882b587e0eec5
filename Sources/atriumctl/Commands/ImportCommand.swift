import ArgumentParser
import JSONCodec

/// The command `atriumctl import CONTAINER FILE`.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Put the items of a file: a line of JSON each.",
        discussion: """
            A line is {"id": …, "fields": {…}}, or what 'export' writes. Bad lines are named and \
            left out; all others go in. What is there just so stays untouched, so an import that \
            was interrupted is completed by running it again.
            """)

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("Which list; by default the first.", valueName: "name"),
        completion: .components)
    var component: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        var reader = try LineReader(file)
        let session = try await connection.connect()
        var importer = Importer(session, container: container, component: component)
        let started = ContinuousClock.now
        var failure: (any Error)?
        do {
            try await importer.run(&reader)
        } catch {
            failure = error
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        let report = importer.report
        for complaint in report.complaints { Output.note("atriumctl: \(complaint)") }
        if let failure {
            if report.done > 0 {
                Output.note("atriumctl: before that: \(report.summary(seconds: seconds))")
            }
            throw failure
        }
        if connection.json {
            Output.rawLine(JSON.encode(report.json(seconds: seconds)))
        } else {
            Output.line(report.summary(seconds: seconds))
        }
        if report.bad > 0 { throw ExitCode(CommandFailure.Status.refused.rawValue) }
    }
}
