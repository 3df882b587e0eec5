import ArgumentParser
import Foundation
import Glibc
import JSONCodec

/// Measures Atrium beside what it could be at best, or what else there is, in one run.
@main
struct Benchmarks: ParsableCommand {
    /// What can be measured, in the order in which it is.
    enum Name: String, CaseIterable, ExpressibleByArgument {
        case json, `import`, queries, calls, votes

        /// Whether a daemon is needed.
        var needsDaemon: Bool { self != .json }
    }

    static let configuration = CommandConfiguration(
        commandName: "benchmarks",
        abstract: "Measure Atrium beside its peers.",
        discussion: """
            Figures of ours and of a peer are taken in turn within one run, so that a slow spell of the \
            machine meets both: trust the ratios more than the figures. All of it takes about a \
            minute. The daemon comes from .build/atrium, where `make stage` puts a release build.
            """)

    @Argument(help: "What to measure: json, import, queries, calls, votes; all by default.")
    var names: [Name] = []

    @Flag(help: "Print a line of JSON for each figure instead of a table.")
    var json = false

    @Option(help: "The daemon to measure, with its plugins beside it.")
    var atriumd = Benchmarks.root.appending(path: ".build/atrium/bin/atriumd").path

    @Option(help: "Where stores are kept meanwhile: on the disk to measure.")
    var directory = Benchmarks.root.appending(path: ".build").path

    @Flag(name: .customLong("echo"), help: .private)
    var isEcho = false

    /// The folder of the repository.
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    func run() throws {
        guard !isEcho else {
            EchoProcess.run()
            return
        }
        let chosen = Name.allCases.filter { names.isEmpty || names.contains($0) }
        if chosen.contains(where: \.needsDaemon), access(atriumd, X_OK) != 0 {
            throw BenchmarkError(
                "there is no daemon at \(atriumd): run `make stage` first, or name one with --atriumd"
            )
        }
        let bench = Workbench(
            program: atriumd, within: URL(filePath: directory),
            examples: Self.root.appending(path: "Examples"))
        bench.clearLeftovers()
        defer { bench.clear() }
        var rows: [Row] = []
        for name in chosen {
            bench.say("\(name.rawValue) …")
            do {
                rows += try measure(name, bench)
            } catch {
                throw bench.explain(error)
            }
        }
        let lines = rows.map { String(decoding: JSON.encode($0.json), as: UTF8.self) }
        print(json ? lines.joined(separator: "\n") : Table(rows).text)
    }

    private func measure(_ name: Name, _ bench: Workbench) throws -> [Row] {
        switch name {
        case .json: try JSONBenchmark().run()
        case .import: try ImportBenchmark(bench: bench).run()
        case .queries: try QueryBenchmark(bench: bench).run()
        case .calls: try CallBenchmark(bench: bench).run()
        case .votes: try VoteBenchmark(bench: bench).run()
        }
    }
}
