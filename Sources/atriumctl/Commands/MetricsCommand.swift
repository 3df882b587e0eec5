import ArgumentParser
import Interfaces

struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Show the daemon's metrics, as Prometheus reads them.",
        discussion: """
            The text is Prometheus' exposition format, version 0.0.4. With --output a file is \
            replaced in one step, as node_exporter's textfile collector wants it; \
            atrium-metrics.timer does that every 15 seconds. 'atriumctl top' shows the same live.
            """,
        examples: "atriumctl metrics")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Replace this file atomically; '-' is standard output.", valueName: "file"))
    var output: String?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard output != "" else { throw ValidationError("--output names a file, or '-'.") }
        guard output == nil || !connection.json else {
            throw ValidationError("--output writes Prometheus' text: leave out --json.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        guard let reply = try await session.answer(Daemon.Metrics.self, .init()) else { return }
        // Another user's collector reads it.
        let file = try WholeFile(output == "-" ? nil : output, replaces: true, mode: 0o644)
        try file.write(Array(PrometheusText.text(reply.metrics).utf8))
        try file.finish(isDurable: false)
    }
}
