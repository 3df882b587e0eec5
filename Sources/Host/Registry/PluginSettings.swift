import AtriumKit
public import PluginLoader

/// The settings of plugins whose libraries or programs run in workers alone, as far as they are known.
final class PluginSettings {
    typealias Known = (settings: [SettingDescription], problem: String?)

    /// By plugin and the identity of its code; two at most of each while it is reloaded.
    private var known: [String: [String: [SettingDescription]]] = [:]
    /// Who waits, by plugin and code.
    private var waiting: [String: [(Known) -> Void]] = [:]

    /// Finds out the settings of a plugin: from a worker, unless they are known for this code.
    ///
    /// - Parameters:
    ///   - plugin: the plugin.
    ///   - launcher: starts the worker; one at a time for a plugin.
    ///   - done: called with the settings, or with none and why they are not known.
    func find(
        of plugin: Plugin, with launcher: any ComponentLauncher, _ done: @escaping (Known) -> Void
    ) {
        let identity = plugin.held?.identity ?? ""
        if let settings = known[plugin.id]?[identity], !identity.isEmpty {
            return done((settings, nil))
        }
        let code = "\(plugin.id) \(identity)"
        waiting[code, default: []].append(done)
        guard waiting[code]?.count == 1 else { return }
        launcher.describe(plugin) { [self] result in
            let found: Known
            switch result {
            case .success(let settings):
                known[plugin.id, default: [:]][identity] = settings
                found = (settings, nil)
            case .failure(let failure): found = ([], "\(failure)")
            }
            for done in waiting.removeValue(forKey: code) ?? [] { done(found) }
        }
    }

    /// Forgets what other code of a plugin takes, once it is decided which runs.
    func settle(on plugin: Plugin) {
        let identity = plugin.held?.identity ?? ""
        known[plugin.id] = known[plugin.id]?.filter { $0.key == identity }
    }
}

extension Registry {
    /// Finds out which settings a plugin's components or delegates take.
    ///
    /// For a plugin whose code is not loaded into the daemon, a worker is started to ask it; the answer is kept.
    ///
    /// - Parameters:
    ///   - plugin: the plugin.
    ///   - reply: the settings; if they can't be found out, none and why, as a sentence.
    public func settings(
        of plugin: PluginStatus,
        _ reply: @escaping @Sendable (_ settings: [SettingDescription], _ problem: String?) -> Void
    ) {
        if let settings = plugin.settings {
            return reply(settings.map { SettingDescription($0) }, nil)
        }
        guard let plugin = plugin.plugin else { return reply([], nil) }
        state.settings.find(of: plugin, with: domain.launcher(for: .process)) {
            reply($0.settings, $0.problem)
        }
    }
}
