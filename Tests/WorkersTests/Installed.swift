import AtriumKit
public import AtriumKitTesting
import Foundation
import Host
import Logging
import NIOCore
import NIOPosix
import PluginLoader
import TestSupport
import Testing

@testable public import Workers

/// What was built beside these tests: the worker and the plugins' libraries.
enum Installed {
    static let worker: String = {
        // `swift test` has crashes explained at length, which takes seconds for each.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        return Checkout.products + "/atrium-worker"
    }()

    static let loop = MultiThreadedEventLoopGroup.singleton.next()

    static let stars = plugin("stars", .votes)
    static let breaker = plugin("breaker", .contents)

    static let cheat = Plugin(
        id: "org.atrium.cheat", version: "0.1.0", kind: .votes, title: "cheat",
        library: breaker.path, isolation: .process)

    static let asker = Plugin(
        id: "org.atrium.asker", version: "0.1.0", kind: .contents, title: "asker",
        library: breaker.path, isolation: .process)

    static let diary = Plugin(
        id: "org.atrium.diary", version: "0.1.0", kind: .contents, title: "diary",
        library: breaker.path, isolation: .process)

    static func plugin(_ name: String, _ kind: Kind) -> Plugin {
        Plugin(
            id: "org.atrium.\(name)", version: "0.1.0", kind: kind, title: name,
            library: Checkout.products + "/lib\(name.capitalized).so",
            isolation: .process)
    }

    /// A component in a worker that is yet to be started.
    static func component(
        of plugin: Plugin, limits: WorkerLimits = WorkerLimits(), logger: Logger = quiet,
        mayUseNetwork: Bool = false
    ) -> WorkerComponent {
        WorkerComponent(
            of: plugin, on: loop, executable: worker, logger: logger, limits: limits,
            mayUseNetwork: mayUseNetwork)
    }

    static var quiet: Logger {
        Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    }
}

extension WorkerComponent: ConformanceDriver {
    /// The worker's process.
    var processID: pid_t? { (port as? WorkerPort)?.process.id }

    /// Has its walls made for a version of Landlock.
    func build(for landlock: Int32) { launcher.landlock = landlock }

    /// Lists the settings of a plugin, in a worker that may take so long.
    func describe(
        _ plugin: Plugin, within patience: TimeAmount
    ) async -> Result<[SettingDescription], LaunchFailure> {
        launcher.descriptionPatience = patience
        return await withCheckedContinuation { continuation in
            launcher.describe(plugin) { continuation.resume(returning: $0) }
        }
    }

    /// Puts items by name.
    @discardableResult
    func put(_ ids: String...) async throws -> Decision {
        try await decide(
            .putItems(ids.map { Item(id: $0, fields: ["mean": 4.0]) }),
            CommandContext(
                actor: ActorID(1), time: Timestamp(milliseconds: 0), freshID: "fresh"))
    }

    /// Puts items in calls of their own that go out together; tells which were answered.
    func putAtOnce(_ ids: [String], answered: @escaping @Sendable (String) -> Void) {
        for id in ids {
            let context = CommandContext(
                actor: ActorID(1), time: Timestamp(milliseconds: 0), freshID: "fresh")
            port?.decide(.putItems([Item(id: id, fields: [:])]), context) { result in
                if case .success = result { answered(id) }
            }
        }
    }

    /// Makes a component with one field, `mean`, and by default no settings.
    func start(_ settings: [String: Value] = [:]) async throws {
        _ = try await start(
            settings: settings, fields: [Field(name: "mean", type: .number)])
    }
}

/// Whether a process is there, also as a zombie.
func exists(_ process: pid_t) -> Bool { kill(process, 0) == 0 }

/// Waits until something holds; an issue is recorded when it does not within 20 seconds.
func eventually(
    _ what: Testing.Comment, sourceLocation: SourceLocation = #_sourceLocation,
    _ holds: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
        if try await holds() { return }
        try await Task.sleep(for: .milliseconds(2))
    }
    Issue.record(what, sourceLocation: sourceLocation)
}

/// The processes that host components of a library.
func workers(of library: String) throws -> [pid_t] { try workers("--library", library) }

/// The processes that host components of a program.
func workers(ofProgram path: String) throws -> [pid_t] { try workers("--program", path) }

private func workers(_ option: String, _ path: String) throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name in
        guard let process = pid_t(name),
            let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline"),
            String(decoding: line, as: UTF8.self).contains("\0\(option)\0\(path)\0")
        else { return nil }
        return process
    }
}

/// A plugin whose library has a path that no other test uses, by which its workers are known.
func alias(of plugin: Plugin, in directory: TemporaryDirectory) throws -> Plugin {
    var alias = plugin
    alias.code = .library(directory.path + "/alias.so")
    try FileManager.default.createSymbolicLink(
        atPath: alias.path, withDestinationPath: plugin.path)
    return alias
}
