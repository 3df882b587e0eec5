import AtriumKit
public import PluginLoader

/// The settings that plugins' components or delegates take, as far as they are known.
public final class PluginSettings {
    private let domain: Domain
    /// The settings of plugins whose code is not loaded into the daemon.
    private var known: [String: (identity: String, settings: [SettingDescription])] = [:]
    private var waiting: [String: [([SettingDescription], String?) -> Void]] = [:]

    init(in domain: Domain) { self.domain = domain }

    /// Finds out the settings of a plugin.
    ///
    /// For a plugin whose code is not loaded into the daemon, a worker is started to ask it, one at a time; the answer
    /// is kept for this code.
    ///
    /// - Parameters:
    ///   - plugin: the plugin.
    ///   - reply: the settings; if they can't be found out, none and why, as a sentence.
    public func find(
        of plugin: PluginStatus,
        _ reply: @escaping (_ settings: [SettingDescription], _ problem: String?) -> Void
    ) {
        if let settings = plugin.settings {
            return reply(settings.map { SettingDescription($0) }, nil)
        }
        guard let plugin = plugin.plugin else { return reply([], nil) }
        let identity = plugin.held?.identity ?? ""
        if let known = known[plugin.id], known.identity == identity, !identity.isEmpty {
            return reply(known.settings, nil)
        }
        waiting[plugin.id, default: []].append(reply)
        guard waiting[plugin.id]?.count == 1 else { return }
        domain.launcher(for: .process).describe(plugin) { [self] result in
            var (found, problem): ([SettingDescription], String?) = ([], nil)
            switch result {
            case .success(let settings):
                known[plugin.id] = (identity, settings)
                found = settings
            case .failure(let failure): problem = "\(failure)"
            }
            for reply in waiting.removeValue(forKey: plugin.id) ?? [] { reply(found, problem) }
        }
    }
}
