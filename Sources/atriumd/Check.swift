import AtriumKit
import Control
import Foundation
import Glibc
import Host
import Logging
import NIOCore
import NIOPosix
import PluginLoader
import Store
import Workers

/// `atriumd --check`: reports the problems that a start would find, without starting.
///
/// Definitions are applied to a temporary, empty store, so that plugins check their settings as at a start.
struct Check {
    let settings: DaemonSettings

    /// Switches to the service's user if root checks the service's configuration.
    ///
    /// Root can read every file, and the service can't. Besides, no plugin's code should run as root.
    ///
    /// - Parameter folder: the configuration's folder: `/etc/atrium-NAME` belongs to the user `atrium-NAME`.
    /// - Returns: the user's name; nil if the user was not switched.
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

    /// Prints a line; throws the system's reason if standard output can't be written.
    static func say(_ line: String) throws {
        var rest = Array("\(line)\n".utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            guard count >= 0 || errno == EINTR else {
                let code = errno
                // Who reads a pipe may leave early.
                if code == EPIPE { return }
                throw DaemonError(
                    "can't write standard output: \(String(cString: strerror(code)))", status: .io,
                    errno: code)
            }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Checks everything and prints one line for each check; returns whether all passed.
    func passes() async throws -> Bool {
        var passes = true
        func report(_ name: String, _ problem: String?) throws {
            try Self.say(problem.map { "\(name): \($0)" } ?? "\(name): fine")
            passes = passes && problem == nil
        }
        let library = Installation.plugins(settings)
        let problems =
            settings.problems(of: try settings.roleTable(groups: { [] })())
            + settings.unknownPlugins(in: library)
        for problem in problems { try report("configuration", problem) }
        if problems.isEmpty { try report("configuration", nil) }
        let files = DefinitionFolder(settings).files()
        let outcomes = try await tried(files.flatMap(parts), library)
        var before: [ContainerDefinition] = []
        let sections = sections(of: outcomes)
        for file in files {
            let own = outcomes.filter { $0.path == file.path }.map(\.outcome)
            if let problem = own.lazy.compactMap(\.problem).first ?? nesting(of: file, &before)
                ?? following(in: file, sections)
            {
                try report("definition", "\(problem)")
            } else {
                try report(file.path, nil)
                if own.contains(where: \.lacksSecret) { try noteCredentials(of: file) }
            }
        }
        for problem in library.problems { try report("plugins", problem) }
        for folder in settings.pluginPath where access(folder, F_OK) != 0 {
            try Self.say("pluginPath: \(folder) is not there; a start goes on without it")
        }
        for plugin in library.plugins {
            switch plugin.state {
            case .refused, .failed:
                try report("plugin \(plugin.id)", plugin.reason ?? plugin.state.rawValue)
            case .found, .loaded, .superseded: try report("plugin \(plugin.id)", nil)
            }
        }
        return passes
    }

    /// Returns an error if a file's containers, with those of the files before it, form a cycle or nest too deep.
    ///
    /// Each file is tried alone, which does not detect this.
    private func nesting(
        of file: DefinitionFolder.File, _ before: inout [ContainerDefinition]
    ) -> (any Error)? {
        guard let definitions = try? file.outcome.get() else { return nil }
        guard let reason = Nesting.problem(of: definitions, after: before),
            let last = definitions.last
        else {
            before += definitions
            return nil
        }
        return DefinitionReader.problem(in: last, file: file.path, at: .container, reason)
    }

    /// The sections of filters of all containers whose definitions could be tried whole.
    private func sections(
        of outcomes: [Tried]
    ) -> FollowedSections {
        FollowedSections(
            outcomes.flatMap(\.outcome.results).filter { result in
                // Of one that needs a credential the components without one were tried by themselves.
                !outcomes.contains {
                    $0.outcome.lacksSecret && $0.containers.contains(result.container)
                }
            })
    }

    /// Returns an error if a part in a file follows a section that is not there.
    ///
    /// Each file is tried alone, without the containers of the others.
    private func following(
        in file: DefinitionFolder.File, _ sections: FollowedSections
    ) -> (any Error)? {
        for definition in (try? file.outcome.get()) ?? [] {
            guard let reason = sections.problem(in: definition) else { continue }
            return DefinitionReader.problem(in: definition, file: file.path, at: .container, reason)
        }
        return nil
    }

    /// The parts of a file to try: each definition, and its components without those that need a credential.
    ///
    /// The components are tried separately, because a definition is tried only up to its first missing credential.
    private func parts(of file: DefinitionFolder.File) -> [DefinitionFolder.File] {
        guard let definitions = try? file.outcome.get() else { return [file] }
        return definitions.flatMap { definition in
            var rest = definition
            rest.components.removeAll { !credentials(of: $0).isEmpty }
            let left = rest.components.map(\.name)
            rest.lists?.removeAll(except: left)
            if rest.lists?.contents.isEmpty == true { rest.lists = nil }
            for place in rest.scopes.indices { rest.scopes[place].lists.removeAll(except: left) }
            rest.scopes.removeAll(where: \.lists.contents.isEmpty)
            return rest == definition || left.isEmpty ? [definition] : [definition, rest]
        }.map { DefinitionFolder.File(path: file.path, outcome: .success([$0])) }
    }

    /// The credentials to which a component's settings refer, by setting.
    private func credentials(of component: ComponentDefinition) -> [(key: String, value: String)] {
        component.settings.compactMapValues { value in
            guard case .credential(let name) = SecretReference(value) else { return nil }
            return name
        }.sorted { $0.key < $1.key }
    }

    private func noteCredentials(of file: DefinitionFolder.File) throws {
        for component in ((try? file.outcome.get()) ?? []).flatMap(\.components) {
            for (setting, name) in credentials(of: component) {
                try Self.say(
                    "\(file.path): component '\(component.name)', setting '\(setting)': "
                        + "the credential '\(name)' is there for the service alone; "
                        + "what it holds was not checked")
            }
        }
    }

    /// A file or a part of one that was tried.
    private struct Tried {
        var path: String
        var containers: [String]
        var outcome: DefinitionApplication.Outcome
    }

    /// Tries to apply files, without lasting effects.
    private func tried(
        _ files: [DefinitionFolder.File], _ library: PluginLibrary
    ) async throws -> [Tried] {
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
            limits: settings.limits.host, logger: silent, isCheck: true
        ) { outcomes throws(StoreError) in
            try Store(at: folder.path(percentEncoded: false), logger: silent, outcomes: outcomes)
        }
        let application = DefinitionApplication(registry: registry, loop: loop, dryRun: true)
        let tried = zip(files, await application.apply(files)).map { file, outcome in
            Tried(
                path: file.path,
                containers: ((try? file.outcome.get()) ?? []).map(\.name), outcome: outcome)
        }
        await withCheckedContinuation { continuation in
            loop.execute {
                registry.shutdown.run { _ in continuation.resume() }
            }
        }
        await running.allEnded()
        try await group.shutdownGracefully()
        return tried
    }
}

extension ListModes {
    /// Removes all lists except these.
    fileprivate mutating func removeAll(except names: [String]) {
        contents.removeAll { !names.contains($0) }
        entered.removeAll { !names.contains($0) }
        searched.removeAll { !names.contains($0) }
    }
}
