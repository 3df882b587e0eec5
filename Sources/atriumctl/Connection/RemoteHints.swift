import Interfaces
import JSONCodec
import Varlink

/// Hints for which the daemon is called again: the names that exist where one was not found.
struct RemoteHints {
    let client: VarlinkClient

    /// The hint for an error; nil for errors whose text says enough.
    func hint(for error: VarlinkRemoteError) async -> String? {
        switch InterfaceError(error) {
        case .containerNotFound(let container): await containers(besides: container)
        case .componentNotFound(let container, _): await components(of: container)
        case .pluginNotFound(let plugin, _): await refusal(of: plugin)
        default: nil
        }
    }

    /// Why a plugin was refused, if its folder was found.
    private func refusal(of plugin: String) async -> String? {
        let reply = try? await client.call(Plugins.List.self, .init())
        guard let reason = reply?.plugins.first(where: { $0.id == plugin })?.reason else {
            return nil
        }
        return "it was found, and refused: \(reason)"
    }

    private func containers(besides wanted: String) async -> String? {
        guard let reply = try? await client.call(Containers.List.self, .init()) else { return nil }
        return Nearest.hint(wanted, reply.containers.map(\.name))
            ?? "there is none yet; 'atriumctl apply -f FILE' makes one."
    }

    private func components(of container: String) async -> String? {
        let reply = try? await client.call(
            Containers.Describe.self, .init(container: container))
        guard let components = reply?.container.components, !components.isEmpty else { return nil }
        let names = components.map { "\($0.name) (\($0.kind))" }
        return "its components are: \(names.joined(separator: ", "))."
    }
}
