import Control
import Foundation
import Glibc
import Host
import Logging
import NIOCore
import NIOPosix
import Store
import Workers

/// `atriumd --check`: what a start would find, without starting.
///
/// Definitions are applied to a store of their own that is empty and thrown away: plugins are asked
/// for their settings as they are at a start.
struct Check {
    let settings: DaemonSettings

    /// Goes on as the user of the service, where root checks what is the service's.
    ///
    /// Root reads every file, and the service does not; and no code of a plugin's is run as root.
    ///
    /// - Parameter folder: the configuration's: `/etc/atrium-NAME` is of the user `atrium-NAME`.
    /// - Returns: the user's name; nil where nothing was to be changed.
    static func becomeServiceUser(of folder: String) -> String? {
        let name = folder.split(separator: "/").last.map(String.init) ?? ""
        guard geteuid() == 0, folder.hasPrefix("/etc/atrium"), let user = getpwnam(name) else {
            return nil
        }
        let (uid, gid) = (user.pointee.pw_uid, user.pointee.pw_gid)
        guard uid != 0, initgroups(name, gid) == 0, setgid(gid) == 0, setuid(uid) == 0 else {
            return nil
        }
        return name
    }

    /// Prints a line for each thing; whether all is well.
    func passes() async throws -> Bool {
        var passes = true
        func say(_ name: String, _ problem: String?) {
            print(problem.map { "\(name): \($0)" } ?? "\(name): fine")
            passes = passes && problem == nil
        }
        let roles = settings.problems(of: try settings.roleTable(groups: [])())
        for problem in roles { say("configuration", problem) }
        if roles.isEmpty { say("configuration", nil) }
        let library = Installation.plugins(settings)
        for (file, problem) in try await tried(DefinitionFolder(settings).files(), library) {
            if let problem { say("definition", "\(problem)") } else { say(file.path, nil) }
        }
        for problem in library.problems { say("plugins", problem) }
        for folder in settings.pluginPath where access(folder, F_OK) != 0 {
            print("pluginPath: \(folder) is not there; a start goes on without it")
        }
        for plugin in library.plugins {
            switch plugin.state {
            case .refused, .failed:
                say("plugin \(plugin.id)", plugin.reason ?? plugin.state.rawValue)
            case .found, .loaded, .superseded: say("plugin \(plugin.id)", nil)
            }
        }
        return passes
    }

    /// Applies files without anything to be seen of it.
    private func tried(
        _ files: [DefinitionFolder.File], _ library: PluginLibrary
    ) async throws -> [(DefinitionFolder.File, (any Error)?)] {
        guard !files.isEmpty else { return [] }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "atrium-check-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try Directories.make(folder.path(percentEncoded: false), mode: 0o700)
        let silent = Logger(label: "atriumd.check") { _ in SwiftLogNoOpLogHandler() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let running = RunningWorkers()
        let registry = try Registry(
            loop: loop, plugins: library,
            workers: WorkerLauncher(
                loop: loop, executable: Installation.worker, logger: silent, running: running,
                networkPlugins: Set(settings.networkPlugins)),
            limits: settings.limits.host, logger: silent
        ) { outcomes throws(StoreError) in
            try Store(at: folder.path(percentEncoded: false), logger: silent, outcomes: outcomes)
        }
        var tried: [(DefinitionFolder.File, (any Error)?)] = []
        let application = DefinitionApplication(registry: registry, loop: loop, dryRun: true)
        for (file, outcome) in zip(files, await application.apply(files)) {
            tried.append((file, outcome.problem))
        }
        await withCheckedContinuation { continuation in
            loop.execute {
                registry.assumeIsolated { $0.stop { _ in continuation.resume() } }
            }
        }
        await running.allEnded()
        try await group.shutdownGracefully()
        return tried
    }
}
