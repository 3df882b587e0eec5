import Foundation
import Glibc
import JSONCodec

/// What the benchmarks share: where things are, the catalogue, and a daemon that holds it.
final class Workbench {
    /// The container of the Debian packages, as its definition names it.
    static let container = "debian"

    /// How our directories begin; the process id follows.
    private static let prefix = "benchmarked-"

    private let program: String
    private let directory: URL
    private let examples: URL
    private var made = 0
    private var known: Catalogue?
    private var running: DaemonProcess?

    /// Sets up a bench.
    ///
    /// - Parameters:
    ///   - program: the path of `atriumd`.
    ///   - parent: where a directory is made for stores and files, which ``clear()`` removes.
    ///   - examples: the folder with `debian.yaml` and `debian-index`.
    init(program: String, within parent: URL, examples: URL) {
        self.program = program
        directory = parent.appending(path: "\(Self.prefix)\(getpid())")
        self.examples = examples
    }

    /// Removes what runs that were interrupted left beside our directory.
    func clearLeftovers() {
        let parent = directory.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(Self.prefix) {
            guard let pid = Int32(name.dropFirst(Self.prefix.count)), kill(pid, 0) != 0,
                errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(at: parent.appending(path: name))
        }
    }

    /// Tells how far we are, on standard error: standard output is for the figures.
    func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// A path for something that is made and removed.
    func newDirectory() -> URL {
        made += 1
        return directory.appending(path: "\(made)")
    }

    /// The packages, read once.
    func catalogue() throws -> Catalogue {
        if let known { return known }
        let catalogue = try Catalogue.debian(script: examples.appending(path: "debian-index").path)
        known = catalogue
        return catalogue
    }

    /// A daemon that holds the catalogue: the one that is there, else a new one.
    func daemon() throws -> DaemonProcess {
        if let running { return running }
        let catalogue = try catalogue()
        return try renewDaemon { daemon in
            let seconds = try ImportBenchmark.fill(daemon, with: catalogue)
            say("import: \(catalogue.origin) in \((seconds * 100).rounded() / 100) s")
            return daemon
        }
    }

    /// Ends the daemon that is there, and starts one with the container, empty.
    func renewDaemon<Result>(_ body: (DaemonProcess) throws -> Result) throws -> Result {
        running?.stop()
        running = nil
        let daemon = try DaemonProcess(program: program, directory: newDirectory())
        let definition = examples.appending(path: "debian.yaml")
        let text = try String(contentsOf: definition, encoding: .utf8)
        _ = try daemon.connect().call(
            "org.atrium.Containers.Apply",
            [
                "definitions": [
                    ["file": .string(definition.lastPathComponent), "text": .string(text)]
                ]
            ])
        running = daemon
        return try body(daemon)
    }

    /// The same error, with what the daemon that is there said to it.
    func explain(_ error: any Error) -> BenchmarkError {
        let said = running?.said ?? ""
        return BenchmarkError("\(error)" + (said.isEmpty ? "" : ". The daemon said: \(said)"))
    }

    /// Ends the daemon and removes all files.
    func clear() {
        running?.stop()
        running = nil
        try? FileManager.default.removeItem(at: directory)
    }
}
