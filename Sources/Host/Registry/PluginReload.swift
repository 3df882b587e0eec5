internal import AtriumKit
import JSONCodec
import LogMessages
import Logging
import NIOCore
public import PluginLoader

/// Why new code of a plugin was not taken.
public enum PluginReloadFailure: Error, Sendable, Hashable {
    /// There is no such plugin.
    case notFound(known: [String])
    /// The loaded version stays in use; the reason is a sentence or more.
    case refused(reason: String)
}

/// Replaces plugins' code at an administrator's request.
public final class PluginReloads {
    private let state: RegistryState
    private let changes: StructureChanges
    private var domain: Domain { state.domain }
    private var running: Set<String> = []

    init(in state: RegistryState, by changes: StructureChanges) {
        (self.state, self.changes) = (state, changes)
    }

    /// Looks at what is on the disk in the place of the plugins that are loaded; the reply has, by plugin, what is
    /// not what was loaded.
    public func copiesOnDisk(_ reply: @escaping @Sendable ([String: PluginCopy]) -> Void) {
        let (plugins, loop) = (domain.plugins.plugins, domain.loop)
        Task(executorPreference: QuietExecutor.shared) {
            var copies: [String: PluginCopy] = [:]
            for plugin in plugins {
                if let copy = plugin.copyOnDisk() { copies[plugin.id] = copy }
            }
            let found = copies
            loop.execute { reply(found) }
        }
    }

    /// Loads the code of a plugin that is on the disk now, and makes its components of it.
    ///
    /// One container after another: the calls under way end, others wait, the components are made and restored beside
    /// the old ones, and then take their places. Before that the code is asked for its settings: what can't answer is not
    /// loaded, even if no component is made of it. With several containers all of that is rehearsed first, so that a
    /// component that can't be made changes nothing. If one fails in spite of that, those that were replaced are made of
    /// the old code again, which is not there any more for a program whose files have changed.
    ///
    /// - Parameters:
    ///   - plugin: the plugin's identifier.
    ///   - caller: on whose behalf.
    ///   - reply: once all components run the new code, or the old one again.
    public func run(
        _ plugin: String, by caller: Caller,
        _ reply: @escaping @Sendable (Result<Void, PluginReloadFailure>) -> Void
    ) {
        guard running.insert(plugin).inserted else {
            return reply(
                .failure(.refused(reason: "The plugin \(plugin) is being reloaded already.")))
        }
        let done: (Result<Void, PluginReloadFailure>) -> Void = { [self] result in
            running.remove(plugin)
            if let present = domain.plugins.plugin(plugin) { state.settings.keepOnly(present) }
            if case .failure(.refused(let reason)) = result {
                domain.logger.log(
                    .pluginNotReloaded, ["plugin": "\(plugin)", "reason": "\(reason)"])
            }
            reply(result)
        }
        if let reason = obstacle(to: plugin) { return done(.failure(.refused(reason: reason))) }
        let (library, loop) = (domain.plugins, domain.loop)
        let found = NIOLoopBound(
            { [self] (result: Result<[PluginStatus], PluginProblem>) in
                handle(plugin, result, by: caller, done)
            }, eventLoop: loop)
        Task(executorPreference: QuietExecutor.shared) {
            let result = Result { () throws(PluginProblem) in try library.reread(plugin) }
            loop.execute { found.value(result) }
        }
    }

    /// Why a plugin's code can't be replaced while the daemon runs; nil: it can.
    private func obstacle(to plugin: String) -> String? {
        let advice = "and a library that is loaded can't be unloaded: restart the daemon"
        if domain.plugins.delegate(plugin) != nil {
            return "The plugin \(plugin) makes delegates, which live in the daemon, \(advice)."
        }
        if domain.plugins.plugin(plugin)?.isolation == .daemon {
            return "The plugin \(plugin) lives in the daemon, \(advice)."
        }
        for container in state.containers.values.sorted(by: { $0.name < $1.name }) {
            for slot in container.slots
            where slot.definition.plugin == plugin && slot.isolation == .daemon {
                guard slot.plugin != nil else { continue }
                return
                    "The component \(container.name)/\(slot.name) of the plugin \(plugin) lives in the "
                    + "daemon (isolation: daemon), \(advice), or leave 'isolation' out of the "
                    + "definition."
            }
        }
        return nil
    }

    private func handle(
        _ plugin: String, _ found: Result<[PluginStatus], PluginProblem>, by caller: Caller,
        _ done: @escaping (Result<Void, PluginReloadFailure>) -> Void
    ) {
        let before = domain.plugins
        let copies: [PluginStatus]
        switch found {
        case .success(let new): copies = new
        case .failure where !before.plugins.contains { $0.id == plugin }:
            let known = Set(before.plugins.map(\.id)).sorted()
            return done(.failure(.notFound(known: known)))
        case .failure(let problem): return done(.failure(.refused(reason: problem.reason)))
        }
        guard let new = before.replacing(plugin, with: copies).plugin(plugin) else {
            return done(.failure(.refused(reason: "The plugin \(plugin) is not loaded.")))
        }
        let old = before.plugin(plugin)
        if let old, old.kind != new.kind {
            return done(
                .failure(
                    .refused(
                        reason: "The plugin \(plugin) makes components of the kind "
                            + "'\(old.kind.rawValue)', and the one on the disk of the kind "
                            + "'\(new.kind.rawValue)': give it an id of its own.")))
        }
        // Code that no component is made of has to run, too.
        state.settings.find(of: new) { [self] _, problem in
            guard let problem else {
                return replace(copies, new, old, by: caller, done)
            }
            let reason = "Version \(new.version) of the plugin \(plugin) can't be run: \(problem)"
            done(.failure(Self.refusal([reason], old)))
        }
    }

    /// Makes the components of a plugin of new code, or of the old again.
    private func replace(
        _ copies: [PluginStatus], _ new: Plugin, _ old: Plugin?, by caller: Caller,
        _ done: @escaping (Result<Void, PluginReloadFailure>) -> Void
    ) {
        let (plugin, before) = (new.id, domain.plugins)
        // Meanwhile a component of it may have been made in the daemon.
        let reason = domain.isStopping ? domain.stopping.sentence : obstacle(to: plugin)
        if let reason { return done(.failure(.refused(reason: reason))) }
        domain.plugins = before.replacing(plugin, with: copies)
        PluginReload(of: plugin, in: state, changes, by: caller).run { [self] problem in
            guard let problem else {
                announce(new, insteadOf: old)
                return done(.success(()))
            }
            guard let old else {
                return done(.failure(.refused(reason: "The plugin is loaded now. \(problem)")))
            }
            domain.plugins = domain.plugins.replacing(
                plugin, with: before.plugins.filter { $0.id == plugin })
            PluginReload(of: plugin, in: state, changes, by: caller, goesOn: true).run { rest in
                done(.failure(Self.refusal([problem, rest], old)))
            }
        }
    }

    /// Why the old code goes on: the problem with the new one, and perhaps one with the old.
    private static func refusal(_ problems: [String?], _ old: Plugin?) -> PluginReloadFailure {
        var reasons = problems.compactMap(\.self)
        if let old { reasons.insert("Version \(old.version) goes on.", at: 1) }
        return .refused(
            reason: (reasons + ["What the new one printed is in the daemon's log."])
                .map { $0.hasSuffix(".") ? $0 : $0 + "." }.joined(separator: " "))
    }

    private func announce(_ new: Plugin, insteadOf old: Plugin?) {
        let count = state.containers.values.reduce(0) { count, container in
            count + container.slots.count { $0.definition.plugin == new.id }
        }
        domain.logger.log(
            .pluginReloaded,
            [
                "plugin": "\(new.id)",
                "reason":
                    "version \(new.version) after \(old?.version ?? "none"), components: \(count)",
            ])
        domain.bus.post(
            BusNotification(
                time: domain.now(), topic: "daemon.plugins.reloaded",
                payload: Payload.object {
                    $0.member("plugin", new.id)
                    $0.member("version", new.version)
                    $0.member("before", old?.version)
                    $0.member("components", count)
                }))
    }
}

/// Makes the components of a plugin of the code that the registry has for it now, wherever they run other code.
private final class PluginReload {
    private let plugin: String
    private let state: RegistryState
    private let changes: StructureChanges
    private let caller: Caller
    /// Whether other containers follow one whose components could not be made, and nothing is rehearsed.
    private let goesOn: Bool
    /// Containers whose components could not be made.
    private var failed: Set<String> = []
    private var problem: String?

    init(
        of plugin: String, in state: RegistryState, _ changes: StructureChanges, by caller: Caller,
        goesOn: Bool = false
    ) {
        self.goesOn = goesOn
        self.plugin = plugin
        self.state = state
        self.changes = changes
        self.caller = caller
    }

    /// Replaces the components until none runs other code, or one can't be made: `done` is called with that problem.
    func run(_ done: @escaping (String?) -> Void) {
        let names = state.containers.values.filter { !stale(in: $0).isEmpty }.map(\.name)
        guard names.count > 1, !goesOn else { return replaceAll(done) }
        tryStarts(names.sorted()[...], done)
    }

    private func tryStarts(_ names: ArraySlice<String>, _ done: @escaping (String?) -> Void) {
        guard let name = names.first else { return replaceAll(done) }
        remake(in: name, dryRun: true) { [self] in
            if let problem { return done(problem) }
            tryStarts(names.dropFirst(), done)
        }
    }

    private func replaceAll(_ done: @escaping (String?) -> Void) {
        // Looked for anew each time: containers come and go meanwhile.
        let container = state.containers.values
            .filter { !failed.contains($0.name) && !stale(in: $0).isEmpty }
            .min { $0.name < $1.name }
        guard let container, goesOn || failed.isEmpty else { return done(problem) }
        remake(in: container.name, dryRun: false) { [self] in replaceAll(done) }
    }

    /// Makes the components of one container anew, and notes the problem if one can't be made.
    private func remake(in name: String, dryRun: Bool, _ done: @escaping () -> Void) {
        var named = Set<String>()
        changes.change(name) { [self] result in
            switch result {
            case .success, .failure(.containerNotFound): break
            case .failure(let error):
                failed.insert(name)
                let names = named.sorted().map { "\(name)/\($0)" }
                let version = state.domain.plugins.plugin(plugin)?.version ?? ""
                problem =
                    "Version \(version) of the plugin \(plugin) can't make "
                    + "\(names.joined(separator: ", ")): \(error.sentence)"
            }
            done()
        } _: { [self] container, reply in
            let slots = stale(in: container)
            // A failed component serves no calls, so it is started with the new code directly.
            let revived = slots.filter { $0.isFailed && $0.plugin != nil }
            named = Set(slots.map(\.name)).subtracting(revived.map(\.name))
            if !dryRun, let new = state.domain.plugins.plugin(plugin) {
                for slot in revived {
                    slot.setPlugin(new)
                    slot.start.retryNow()
                }
            }
            guard !named.isEmpty else { return reply(.success(state.domain.commits.sequence)) }
            container.structure.remake(named, dryRun: dryRun, by: caller, reply)
        }
    }

    /// The components that run other code than the registry has for the plugin.
    private func stale(in container: Container) -> [Slot] {
        let present = state.domain.plugins.plugin(plugin)
        return container.slots.filter {
            $0.definition.plugin == plugin && $0.plugin?.held !== present?.held
        }
    }
}

extension Slot {
    /// Whether its component could not be made, or has ended too often.
    fileprivate var isFailed: Bool { if case .failed = state { true } else { false } }
}
