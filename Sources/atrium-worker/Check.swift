internal import AtriumKit
public import AtriumKitTesting
internal import Foundation
internal import Glibc
internal import Index
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import PluginLoader
public import Workers

/// `atrium-worker --check`: the conformance suite of a plugin's kind, on both sides of a socket.
struct Check {
    let path: String
    let id: String?
    let settings: [String: Value]?
    /// A file of examples in place of the manifest's.
    let examples: String?
    /// Which random commands are sent.
    let seed: UInt64
    /// How long a call may take, in seconds; nil: what the manifest says, or ten.
    let callSeconds: Int?

    /// How long all may take, in seconds; only a start that hangs takes longer.
    private static let patience: Int64 = 120

    /// Why a plugin can't be checked.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs the suite and prints what it did; returns whether the plugin conforms.
    func run() async -> Bool {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        EndOfProcess.install()
        defer { EndOfProcess.finish() }
        var file: String?
        do {
            let (found, declared) = try find()
            let settings = settings ?? declared.settings
            let fields = declared.fields
            file = self.examples ?? declared.examples
            let examples = try file.map(Self.read) ?? []
            let calls = SuiteCalls(
                limit: .seconds(callSeconds ?? found.callSeconds ?? 10))
            let watch = Self.watch(calls, on: loop)
            defer { watch.cancel() }
            guard case .components(let plugin) = found else {
                calls.begin("a delegate, seed \(seed)")
                try check(found, settings)
                return true
            }
            print("\(plugin.id): \(plugin.path)")
            let kind = plugin.kind.rawValue
            var loaded: (any Component.Type)?
            if case .library = plugin.code { loaded = try plugin.loaded() }
            try Conformance.check(examples, plugin.kind, declared: loaded?.settings)
            if let type = loaded {
                try checkPaths(of: plugin, type.settings)
                let makeDriver: @Sendable () async throws -> any ConformanceDriver = {
                    WatchedDriver(driver: InProcessDriver(type), calls: calls)
                }
                calls.begin("\(kind), seed \(seed), in this process")
                let here = try await Conformance.run(
                    plugin.kind, settings: settings, fields: fields, seed: seed,
                    driver: makeDriver)
                calls.begin("\(kind), examples, in this process")
                try await Conformance.run(
                    examples, plugin.kind, fields: fields, driver: makeDriver)
                print("in this process: \(here)")
            }
            let logger = Logger(label: "atrium-worker")
            var limits = WorkerLimits()
            limits.call = calls.limit
            let makeDriver: @Sendable () async throws -> any ConformanceDriver = { [limits] in
                let worker = WorkerComponent(
                    of: plugin, on: loop, executable: "/proc/self/exe", logger: logger,
                    limits: limits)
                return WatchedDriver(driver: worker, calls: calls)
            }
            calls.begin("\(kind), seed \(seed), in a worker")
            let isolated = try await Conformance.run(
                plugin.kind, settings: settings, fields: fields, seed: seed, driver: makeDriver)
            calls.begin("\(kind), examples, in a worker")
            try await Conformance.run(examples, plugin.kind, fields: fields, driver: makeDriver)
            print("in a worker: \(isolated)")
            if let count = examples.isEmpty ? nil : examples.count {
                print("  ✓ \(count) \(count == 1 ? "example" : "examples") of what it does")
            }
            return true
        } catch let problem as ExampleProblem {
            print("failed: \(file.map { "\($0): " } ?? "")\(problem)")
            return false
        } catch {
            print("failed: \(error)")
            return false
        }
    }

    /// Ends this process when a call takes too long, or all of them.
    private static func watch(_ calls: SuiteCalls, on loop: any EventLoop) -> RepeatedTask {
        let begin = ContinuousClock.now
        return loop.scheduleRepeatedTask(
            initialDelay: .milliseconds(200), delay: .milliseconds(200)
        ) { _ in
            if let call = calls.overdue {
                print("failed: \(call): it has not returned within \(calls.limit)")
                EndOfProcess.finish()
                exit(1)
            }
            if begin.duration(to: .now) > .seconds(patience) {
                print(
                    "failed: \(calls.last): the suite did not end within \(patience) s: a call hangs"
                )
                EndOfProcess.finish()
                exit(1)
            }
        }
    }

    /// Runs the suite of delegates, which live in the daemon alone.
    private func check(_ found: Found, _ settings: [String: Value]) throws {
        guard case .delegates(let plugin) = found else { return }
        try DelegateSuite.run(plugin.delegate, settings: settings, seed: seed)
        print("\(plugin.id): a delegate")
        print("in this process: conforms")
    }

    /// What a plugin makes.
    private enum Found {
        case components(Plugin)
        case delegates(DelegatePlugin)

        /// How long a call may take, as the manifest says.
        var callSeconds: Int? {
            if case .components(let plugin) = self { plugin.callSeconds } else { nil }
        }
    }

    /// A worker opens what the manifest names; the component reads what its class declares.
    private func checkPaths(of plugin: Plugin, _ declared: [Setting]) throws(Problem) {
        let paths = Set(declared.filter { $0.type == .path }.map(\.name))
        guard paths != Set(plugin.paths) else { return }
        throw Problem(
            description: "the class declares as paths: \(paths.sorted()), and the manifest names "
                + "under \"paths\": \(plugin.paths.sorted())")
    }

    /// The most bytes of a file of examples.
    private static let exampleBytes: UInt64 = 16 << 20

    private static func read(_ file: String) throws(Problem) -> [ConformanceExample] {
        do {
            let opened = try RegularFile(file)
            guard opened.size <= exampleBytes,
                let bytes = opened.read(at: 0, count: opened.size)
            else {
                throw Problem(
                    description:
                        "\(file) has \(opened.size) bytes; at most \(exampleBytes) are read")
            }
            return try ConformanceExample.read(Value(jsonBytes: bytes))
        } catch let problem as Problem {
            throw problem
        } catch let unreadable as RegularFile.Unreadable {
            throw Problem(description: unreadable.reason)
        } catch {
            throw Problem(description: "\(file): \(error)")
        }
    }

    /// The plugin, and what its manifest wants it checked with.
    private func find() throws -> (Found, DeclaredCheck) {
        let given = URL(filePath: path).absoluteURL
        guard FileManager.default.fileExists(atPath: given.path) else {
            throw Problem(description: "There is no folder and no library \(path).")
        }
        let isDirectory = (try? given.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory
        let folder = isDirectory == true ? given : given.deletingLastPathComponent()
        let manifest = folder.appending(path: "manifest.json")
        if FileManager.default.fileExists(atPath: manifest.path) {
            return try find(in: folder, manifest)
        }
        guard isDirectory != true else {
            throw Problem(description: "\(manifest.path) is not there: every plugin has one.")
        }
        guard let id else {
            throw Problem(
                description: "\(path) has no manifest.json beside it: name the plugin with --id.")
        }
        return (try plugin(given.path, id), DeclaredCheck())
    }

    private func find(in folder: URL, _ manifest: URL) throws -> (Found, DeclaredCheck) {
        // Trusted: it is about to be loaded into this process anyway.
        let library = PluginLibrary(scanning: [.init(folder.path, isTrusted: true)])
        guard let status = library.plugins.first else {
            throw Problem(description: library.problems.joined(separator: " "))
        }
        let found =
            status.plugin.map { Found.components($0) }
            ?? status.delegate.map { Found.delegates($0) }
        guard let found else {
            throw Problem(
                description: (status.reason ?? "\(status.id) was not loaded.") + buildAdvice(folder)
            )
        }
        try checkAdmission(of: status, manifest)
        let text = try Value(jsonBytes: Array(try Data(contentsOf: manifest)))
        do {
            return (found, try DeclaredCheck(text.object?["conformance"], in: folder))
        } catch {
            throw Problem(description: "\(manifest.path): \(error)")
        }
    }

    /// The folder of the plugins that came with the daemon, where this program is installed.
    private static let shippedPlugins = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "lib/atrium/plugins").path

    /// Throws for what the daemon refuses wherever the plugin is put; warns of a reserved id.
    private func checkAdmission(of status: PluginStatus, _ manifest: URL) throws(Problem) {
        for path in [manifest.path, status.path] {
            var info = stat()
            guard stat(path, &info) == 0, info.st_mode & S_IWOTH != 0 else { continue }
            throw Problem(
                description: "\(path) may be written to by others, and the daemon refuses it: "
                    + "'chmod o-w \(path)'.")
        }
        let shipped = Self.shippedPlugins
        let own = manifest.resolvingSymlinksInPath().path
        guard !own.hasPrefix(shipped + "/"), FileManager.default.fileExists(atPath: shipped) else {
            return
        }
        // Not as trusted ones, which would be loaded into this process.
        let others = PluginLibrary(scanning: [.init(shipped)]).plugins
        if let other = others.first(where: { $0.id == status.id }) {
            throw Problem(
                description: "The id '\(status.id)' is that of a plugin that came with the daemon, "
                    + "at \(other.path): give this one an id of its own.")
        }
        if status.id.hasPrefix("org.atrium.") {
            print(
                "warning: ids below org.atrium are reserved, and a later Atrium may come with a "
                    + "plugin '\(status.id)': give this one an id of its own.")
        }
    }

    /// What to do first in a plugin's package that was not built; empty where it was.
    private func buildAdvice(_ folder: URL) -> String {
        let files = FileManager.default
        return files.fileExists(atPath: folder.appending(path: "Package.swift").path)
            && !files.fileExists(atPath: folder.appending(path: ".build").path)
            ? " Build it first: 'swift build' in \(folder.path)." : ""
    }

    /// A library without a manifest: the kind is that of its class.
    private func plugin(_ library: String, _ id: String) throws -> Found {
        try PluginLoading.probe(library, id: id)
        var problem: (any Error)?
        for kind in Kind.allCases {
            do {
                let type = try PluginLoading.component(library, id: id, kind: kind)
                let paths = type.settings.filter { $0.type == .path }.map(\.name)
                return .components(
                    Plugin(
                        id: id, version: "", kind: kind, title: id, library: library,
                        paths: paths, component: type))
            } catch {
                problem = error
            }
        }
        if let delegate = try? PluginLoading.delegate(library, id: id) {
            return .delegates(DelegatePlugin(id: id, delegate: delegate))
        }
        throw problem ?? Problem(description: "\(library) makes components of no kind.")
    }
}

extension WorkerComponent: ConformanceDriver {}
