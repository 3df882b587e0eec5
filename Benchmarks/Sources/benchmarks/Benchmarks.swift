import ArgumentParser
import Foundation
import Glibc
import JSONCodec

/// Measures what is better measured from Swift than by the clients of `peers`, which asks this program.
///
/// It prints a line of JSON for each figure; `peers/bench.py` makes tables of them.
@main
struct Benchmarks: ParsableCommand {
    /// What can be measured, in the order in which it is.
    enum Name: String, CaseIterable, ExpressibleByArgument {
        case json, `import`, queries

        /// Whether a daemon is needed.
        var needsDaemon: Bool { self != .json }
    }

    static let configuration = CommandConfiguration(
        commandName: "benchmarks",
        abstract: "Measure Atrium beside its peers, with a line of JSON for each figure.",
        discussion: """
            Figures of ours and of a peer are taken in turn within one run, so that a slow spell of the \
            machine meets both: trust the ratios more than the figures. `make bench` makes tables of \
            them. The daemon comes from .build/atrium, where `make stage` puts a release build.
            """)

    @Argument(help: "What to measure: json, import, queries; all by default.")
    var names: [Name] = []

    @Option(help: "The daemon to measure, with its plugins beside it.")
    var atriumd = Benchmarks.root.appending(path: ".build/atrium/bin/atriumd").path

    @Option(help: "Where stores are kept meanwhile: on the disk to measure.")
    var directory = Benchmarks.root.appending(path: ".build").path

    /// The folder of the repository.
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    func run() throws {
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
        for name in chosen {
            do {
                for row in try measure(name, bench) {
                    print(String(decoding: JSON.encode(row.json), as: UTF8.self))
                }
            } catch {
                throw bench.explain(error)
            }
        }
    }

    private func measure(_ name: Name, _ bench: Workbench) throws -> [Row] {
        switch name {
        case .json: try JSONBenchmark().run()
        case .import: try ImportBenchmark(bench: bench).run()
        case .queries: try QueryBenchmark(bench: bench).run()
        }
    }
}
