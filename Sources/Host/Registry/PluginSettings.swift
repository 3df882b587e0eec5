import AtriumKit
public import PluginLoader

/// The settings that plugins' components or delegates take, as far as they are known.
public final class PluginSettings {
    /// Receives the settings; if they can't be found out, none and why, as a sentence.
    public typealias Done = (_ settings: [SettingDescription], _ problem: String?) -> Void

    private let domain: Domain
    /// The settings of plugins whose code is not loaded into the daemon, by plugin and the identity of its code; two of
    /// each at most, while it is reloaded.
    private var known: [String: [String: [SettingDescription]]] = [:]
    /// The callers that wait, by plugin and code.
    private var waiting: [String: [Done]] = [:]

    init(in domain: Domain) { self.domain = domain }

    /// Finds out the settings of a plugin.
    ///
    /// For a plugin whose code is not loaded into the daemon, a worker is started to ask it, one at a time; the answer
    /// is kept for this code.
    ///
    /// - Parameters:
    ///   - plugin: the plugin.
    ///   - reply: the settings; if they can't be found out, none and why, as a sentence.
    public func find(of plugin: PluginStatus, _ reply: @escaping Done) {
        if let settings = plugin.settings {
            return reply(settings.map { SettingDescription($0) }, nil)
        }
        guard let plugin = plugin.plugin else { return reply([], nil) }
        find(of: plugin, reply)
    }

    /// Finds out the settings of a plugin whose code is not loaded into the daemon.
    func find(of plugin: Plugin, _ reply: @escaping Done) {
        let identity = plugin.held?.identity ?? ""
        if let settings = known[plugin.id]?[identity], !identity.isEmpty {
            return reply(settings, nil)
        }
        let code = "\(plugin.id) \(identity)"
        waiting[code, default: []].append(reply)
        guard waiting[code]?.count == 1 else { return }
        domain.launcher(for: .process).describe(plugin) { [self] result in
            var (found, problem): ([SettingDescription], String?) = ([], nil)
            switch result {
            case .success(let settings):
                known[plugin.id, default: [:]][identity] = settings
                found = settings
            case .failure(let failure): problem = "\(failure)"
            }
            for reply in waiting.removeValue(forKey: code) ?? [] { reply(found, problem) }
        }
    }

    /// Forgets what other code of a plugin takes, once it is decided which runs.
    func keepOnly(_ plugin: Plugin) {
        let identity = plugin.held?.identity ?? ""
        known[plugin.id] = known[plugin.id]?.filter { $0.key == identity }
    }
}
