import AtriumKit
import Host
import Interfaces
import PluginLoader
import Varlink

/// `org.atrium.Plugins` over the registry.
struct PluginsControl: PluginsService {
    let context: ControlContext

    func list(
        _ parameters: Plugins.List.Parameters, call: VarlinkCall<Plugins.List.Reply>
    ) {
        context.registry.reloads.copiesOnDisk { copies in
            let uses = uses(copies, hasDetails: context.seesDetails(call.peer))
            call.reply(.init(plugins: uses.map(Interfaces.Plugin.init)))
        }
    }

    func describe(
        _ parameters: Plugins.Describe.Parameters, call: VarlinkCall<Plugins.Describe.Reply>
    ) {
        context.registry.reloads.copiesOnDisk { copies in
            let hasDetails = context.seesDetails(call.peer)
            guard let plugin = use(of: parameters.plugin, copies, hasDetails: hasDetails) else {
                return call.fail(notFound(parameters.plugin))
            }
            context.registry.settings.find(of: plugin.status) { settings, problem in
                let problem = hasDetails ? problem : problem.map { _ in Self.unsaid }
                call.reply(
                    .init(
                        plugin: Interfaces.Plugin(plugin),
                        settings: settings.map(Interfaces.Setting.init), problem: problem))
            }
        }
    }

    /// Why the settings of a plugin are not known, for those who don't read how its worker failed.
    private static let unsaid = "The plugin could not be asked."

    func reload(
        _ parameters: Plugins.Reload.Parameters, call: VarlinkCall<Plugins.Reload.Reply>
    ) {
        let (registry, id) = (context.registry, parameters.plugin)
        let before = registry.plugins.plugin(id)?.version
        registry.reloads.run(id, by: context.own(call.peer)) { result in
            switch result {
            case .failure(.notFound): call.fail(notFound(id))
            case .failure(.refused(let reason)):
                call.fail(Plugins.ReloadFailed(reason: reason))
            case .success:
                registry.reloads.copiesOnDisk { copies in
                    guard let plugin = use(of: id, copies, hasDetails: true) else {
                        return call.fail(notFound(id))
                    }
                    call.reply(.init(plugin: Interfaces.Plugin(plugin), before: before))
                }
            }
        }
    }

    func release(
        _ parameters: Plugins.Release.Parameters, call: VarlinkCall<Plugins.Release.Reply>
    ) {
        let known = Set(context.registry.plugins.plugins.map(\.id))
        guard known.contains(parameters.plugin) else {
            return call.fail(notFound(parameters.plugin))
        }
        call.reply(.init(released: context.registry.release(parameters.plugin)))
    }

    private func notFound(_ plugin: String) -> Plugins.PluginNotFound {
        let known = Set(context.registry.plugins.plugins.map(\.id))
        return Plugins.PluginNotFound(plugin: plugin, known: known.sorted())
    }

    /// The plugin with an id; of several copies, the one that is loaded.
    private func use(
        of id: String, _ onDisk: [String: PluginCopy], hasDetails: Bool
    ) -> PluginUse? {
        let copies = uses(onDisk, hasDetails: hasDetails).filter { $0.status.id == id }
        return copies.first { $0.status.state == .loaded } ?? copies.first
    }

    private func uses(_ onDisk: [String: PluginCopy], hasDetails: Bool) -> [PluginUse] {
        let components = context.registry.componentsByPlugin()
        let restarts = context.registry.restartsByPlugin(hasDetails: hasDetails)
        return context.registry.plugins.plugins.map { status in
            // Of several copies, only the loaded one is used.
            PluginUse(
                status: status,
                components: status.state == .loaded ? components[status.id] ?? 0 : 0,
                restarts: status.state == .loaded ? restarts[status.id] ?? [] : [],
                isolated: status.state == .loaded
                    ? context.registry.isolationReason(of: status.id) : nil,
                onDisk: status.state == .loaded ? onDisk[status.id] : nil,
                hasDetails: hasDetails)
        }
    }
}

/// A plugin and the number of its components.
private struct PluginUse {
    let status: PluginStatus
    let components: Int
    /// Its components that were restarted.
    let restarts: [PluginRestarts]
    /// Why its components run in workers regardless of definitions.
    let isolated: String?
    /// The version on the disk, if it differs from the loaded one; nil: it does not.
    let onDisk: PluginCopy?
    /// Whether it says where the plugin is and why it can't be loaded: for moderators and administrators.
    let hasDetails: Bool

    /// A sentence about the version on the disk, with what to do; nil: there is none.
    var advice: String? {
        guard let onDisk else { return nil }
        if let problem = onDisk.problem {
            return "What is on the disk can't be loaded\(hasDetails ? ": \(problem)" : ".") The "
                + "loaded version stays in use."
        }
        let isSameVersion = onDisk.version == status.version
        let what =
            isSameVersion
            ? "Another file of version \(onDisk.version)" : "Version \(onDisk.version)"
        let takes =
            status.isolation == .daemon
            ? "a restart of the daemon" : "'atriumctl plugin reload \(status.id)'"
        return "\(what) is on the disk: \(takes) takes it."
    }

    /// The problems of its restarted components, one sentence each.
    var troubles: [String] {
        restarts.flatMap { part in
            let restarts = part.restarts
            let name = "\(part.container)/\(part.component)"
            let all = restarts.count > restarts.failures ? ", \(restarts.count) times in all" : ""
            let next = restarts.next.map { ", and is started again at \($0.text)" } ?? ""
            let failing =
                restarts.failures > 0 || restarts.next != nil
                ? ["\(name) \(restarts.inARow)\(all)\(next): \(restarts.cause)"] : []
            return failing + restarts.refuses.map { "\(name) refuses the call \($0)" }
        }
    }
}

extension Interfaces.Plugin {
    fileprivate init(_ use: PluginUse) {
        let status = use.status
        let state: State =
            switch status.state {
            case .found: .found
            case .refused: .refused
            case .loaded: .loaded
            case .failed: .failed
            case .superseded: .superseded
            }
        self.init(
            id: status.id, version: status.version, kind: status.kind?.rawValue ?? "",
            title: status.title, description: status.description, state: state,
            reason: use.hasDetails ? status.reason : nil,
            path: use.hasDetails ? status.path : nil,
            isolation: status.isolation == .daemon && use.isolated == nil ? .daemon : .process,
            components: use.components,
            restarts: use.restarts.isEmpty
                ? nil : use.restarts.reduce(0) { $0 + $1.restarts.count },
            troubles: use.troubles.isEmpty ? nil : use.troubles, isolated: use.isolated,
            onDisk: use.onDisk.map { Copy(version: $0.version, advice: use.advice ?? "") })
    }
}

extension Interfaces.Setting {
    fileprivate init(_ setting: SettingDescription) {
        self.init(
            name: setting.name, type: setting.type, required: setting.isRequired,
            default: setting.defaultValue, summary: setting.summary)
    }
}
