import Interfaces
import Varlink

/// Hints for which more is looked up than the error has: the names that exist where one was not found, of which the daemon
/// is asked, and the file and line that give a role.
struct RemoteHints {
    let client: VarlinkClient
    let socket: String

    /// The hint for an error; nil for errors whose text says enough.
    func hint(for error: VarlinkRemoteError) async -> String? {
        switch InterfaceError(error) {
        case .containerNotFound(let container): await containers(besides: container)
        case .componentNotFound(let container, let component):
            await components(
                of: container, besides: component, ComponentProblem.kind(error.name))
        case .itemNotFound(let container, let item): await items(of: container, besides: item)
        case .pluginNotFound(let plugin, _): await refusal(of: plugin)
        case .roleRequired(_, let role, _): RoleHint(socket: socket).hint(role: role)
        case .actorForbidden(let actor, _): RoleHint(socket: socket).hint(actor: actor)
        case .actorNotFound, .closed, .commentNotFound, .componentExists, .componentUnavailable,
            .conflict, .cursorInvalid, .definitionInvalid, .fieldInvalid, .fieldUnknown,
            .filterNotFound, .itemInvalid, .itemsUnfit, .limitExceeded, .logLevelUnknown, .noSpace,
            .noSuchMetric, .parameterInvalid, .readOnly, .recordInvalid, .refused, .reloadFailed,
            .revisionMismatch, .scopeNotFound, .screenNotFound, .settingInvalid, .storeUnavailable,
            .topicInvalid, nil:
            nil
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
        let names = reply.containers.map(\.name)
        if let hint = Self.itemHint(wanted, containers: names) { return hint }
        // An item alone, as in 'vote alien-1979'.
        for container in reply.containers.prefix(Self.most) {
            if await has(wanted, in: container.name) {
                return "did you mean '\(container.name)/\(wanted)'?"
            }
        }
        return Nearest.hint(wanted, names)
            ?? "there is none yet; 'atriumctl apply -f FILE' makes one."
    }

    /// The hint where an item was named to a command that takes a container; nil where it was not.
    static func itemHint(_ wanted: String, containers: [String]) -> String? {
        guard let target = Target(argument: wanted), target.item != nil,
            containers.contains(target.container)
        else { return nil }
        return "this takes a container, as '\(target.container)'; "
            + "'atriumctl describe \(wanted)' shows an item."
    }

    /// How many containers, and pages of a list, are asked for an item at most.
    private static let most = 10

    private func has(_ item: String, in container: String) async -> Bool {
        (try? await client.call(Contents.Get.self, .init(container: container, item: item))) != nil
    }

    private func items(of container: String, besides wanted: String) async -> String? {
        var ids: [String] = []
        var parameters = Contents.List.Parameters(container: container, fields: [], limit: 1000)
        for _ in 0..<Self.most {
            guard let page = try? await client.call(Contents.List.self, parameters) else { break }
            ids += page.items.map(\.id)
            parameters.cursor = page.next
            if page.next == nil { break }
        }
        let longer = ids.filter { $0.hasPrefix(wanted + "-") }
        let meant = longer.count == 1 ? longer[0] : Nearest.name(to: wanted, in: ids)
        return meant.map { "did you mean '\(container)/\($0)'?" }
    }

    private func components(
        of container: String, besides wanted: String, _ kind: String?
    ) async -> String? {
        let reply = try? await client.call(
            Containers.Describe.self, .init(container: container))
        let components = reply?.container.components.map { (name: $0.name, kind: $0.kind) }
        return ComponentProblem.hint(wanted, kind, among: components ?? [])
    }
}
