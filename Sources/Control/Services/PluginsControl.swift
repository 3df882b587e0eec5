import AtriumKit
import Host
import Interfaces
import JSONCodec
import PluginLoader
import Varlink

/// `org.atrium.Plugins` over the registry.
struct PluginsControl: PluginsService {
    let context: ControlContext

    func list(
        _ parameters: Plugins.List.Parameters, call: VarlinkCall<Plugins.List.Reply>
    ) {
        call.reply(.init(plugins: uses().map(Interfaces.Plugin.init)))
    }

    func describe(
        _ parameters: Plugins.Describe.Parameters, call: VarlinkCall<Plugins.Describe.Reply>
    ) {
        let plugins = uses()
        // Of several copies, show the one that is loaded.
        let copies = plugins.filter { $0.status.id == parameters.plugin }
        guard let plugin = copies.first(where: { $0.status.state == .loaded }) ?? copies.first
        else {
            let known = Set(plugins.map(\.status.id)).sorted()
            return call.fail(Plugins.PluginNotFound(plugin: parameters.plugin, known: known))
        }
        let settings = plugin.status.settings ?? []
        call.reply(
            .init(
                plugin: Interfaces.Plugin(plugin),
                settings: settings.map(Interfaces.Setting.init)))
    }

    func reload(
        _ parameters: Plugins.Reload.Parameters, call: VarlinkCall<Plugins.Reload.Reply>
    ) {
        call.fail(VarlinkService.MethodNotImplemented(method: Plugins.Reload.name))
    }

    func release(
        _ parameters: Plugins.Release.Parameters, call: VarlinkCall<Plugins.Release.Reply>
    ) {
        let known = Set(context.registry.plugins.plugins.map(\.id))
        guard known.contains(parameters.plugin) else {
            return call.fail(
                Plugins.PluginNotFound(plugin: parameters.plugin, known: known.sorted()))
        }
        call.reply(.init(released: context.registry.release(parameters.plugin)))
    }

    private func uses() -> [PluginUse] {
        let components = context.registry.componentsByPlugin()
        let restarts = context.registry.restartsByPlugin()
        return context.registry.plugins.plugins.map { status in
            // Of several copies, only the loaded one is used.
            PluginUse(
                status: status,
                components: status.state == .loaded ? components[status.id] ?? 0 : 0,
                restarts: status.state == .loaded ? restarts[status.id] ?? [] : [],
                isolated: status.state == .loaded
                    ? context.registry.isolationReason(of: status.id) : nil)
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

    /// What is wrong with its restarted components.
    var troubles: [String] {
        restarts.flatMap { part in
            let restarts = part.restarts
            let name = "\(part.container)/\(part.component)"
            let times = restarts.failures == 1 ? "once" : "\(restarts.failures) times in a row"
            let next = restarts.next.map { ", and is started again at \($0.text)" } ?? ""
            let failing =
                restarts.failures > 0 || restarts.next != nil
                ? ["\(name) ended \(times)\(next): \(restarts.cause)"] : []
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
            reason: status.reason, path: status.path,
            isolation: status.isolation == .daemon && use.isolated == nil ? .daemon : .process,
            components: use.components,
            restarts: use.restarts.isEmpty
                ? nil : use.restarts.reduce(0) { $0 + $1.restarts.count },
            troubles: use.troubles.isEmpty ? nil : use.troubles, isolated: use.isolated)
    }
}

extension Interfaces.Setting {
    fileprivate init(_ setting: AtriumKit.Setting) {
        self.init(
            name: setting.name, type: setting.type.words, required: setting.required,
            default: setting.defaultValue.map { String(decoding: JSON.encode($0), as: UTF8.self) },
            summary: setting.summary)
    }
}

extension AtriumKit.Setting.SettingType {
    /// The type in words.
    fileprivate var words: String {
        switch self {
        case .text: "text"
        case .choice(let words): words.joined(separator: " or ")
        case .number(let range): "number from \(range.lowerBound) to \(range.upperBound)"
        case .integer(let range): "integer from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: "boolean"
        case .list: "list"
        case .object: "object"
        case .secret: "secret: {secretFile: PATH} or {secretCredential: NAME}"
        case .path: "path"
        @unknown default: "value"
        }
    }
}
