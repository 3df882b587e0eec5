import Host
import Interfaces
import JSONCodec
import Varlink

/// What the host refuses, as the errors of an interface: each case has one name and one set of
/// members, the same in every interface that declares it. A test compares them with the IDL.
extension HostError {
    /// The error of an interface.
    func reply(of interface: any VarlinkInterface.Type) -> VarlinkRemoteError {
        let (name, members) = parts
        // What a call of any interface may get wrong is declared once.
        let interface: any VarlinkInterface.Type =
            switch self {
            case .componentNotInScope, .parameterInvalid: Interfaces.Daemon.self
            default: interface
            }
        let present = members.filter { $0.value != .null }
        return VarlinkRemoteError(
            name: "\(interface.name).\(name)", parameters: JSONObject(present))
    }

    /// The error's short name and its members.
    var parts: (name: String, members: [JSONValue.Member]) {
        switch self {
        case .containerNotFound, .componentNotFound, .componentExists, .pluginNotFound,
            .settingInvalid, .definitionInvalid, .itemsUnfit:
            registryParts
        case .itemNotFound, .itemInvalid, .fieldInvalid, .fieldUnknown, .revisionMismatch,
            .readOnly, .filterNotFound, .scopeNotFound, .componentNotInScope, .cursorInvalid:
            listParts
        default: otherParts
        }
    }

    private var registryParts: (name: String, members: [JSONValue.Member]) {
        switch self {
        case .containerNotFound(let name):
            ("ContainerNotFound", [member("container", name)])
        case .componentNotFound(let container, let component):
            (
                "ComponentNotFound",
                [member("container", container), member("component", component)]
            )
        case .componentExists(let container, let component):
            ("ComponentExists", [member("container", container), member("component", component)])
        case .pluginNotFound(let plugin, let known):
            ("PluginNotFound", [member("plugin", plugin), member("known", known)])
        case .settingInvalid(let component, let setting, let reason):
            (
                "SettingInvalid",
                [
                    member("component", component), member("setting", setting),
                    member("reason", reason),
                ]
            )
        case .itemsUnfit(let container, let field, let reason, let items):
            (
                "ItemsUnfit",
                [
                    member("container", container), member("field", field),
                    member("reason", reason), member("items", items),
                ]
            )
        case .definitionInvalid(let container, let reason):
            // What only the host can tell has no place in the text.
            (
                "DefinitionInvalid",
                [
                    member("file", container), .init("line", .int(1)),
                    .init("column", .int(1)), member("reason", reason),
                ]
            )
        default: otherParts
        }
    }

    private var listParts: (name: String, members: [JSONValue.Member]) {
        switch self {
        case .itemNotFound(let container, let item):
            ("ItemNotFound", [member("container", container), member("item", item)])
        case .itemInvalid(let item, let reason):
            ("ItemInvalid", [member("item", item), member("reason", reason)])
        case .fieldInvalid(let item, let field, let expected, let found):
            (
                "FieldInvalid",
                [
                    member("item", item), member("field", field), member("expected", expected),
                    member("found", found),
                ]
            )
        case .fieldUnknown(let field, let known):
            ("FieldUnknown", [member("field", field), member("known", known)])
        case .revisionMismatch(let item, let expected, let found):
            (
                "RevisionMismatch",
                [
                    member("item", item), .init("expected", .int(expected)),
                    .init("found", .int(found)),
                ]
            )
        case .readOnly(let component, let reason):
            ("ReadOnly", [member("component", component), member("reason", reason)])
        case .filterNotFound(let section, let filter, let known, let reason):
            (
                "FilterNotFound",
                [
                    member("section", section), member("filter", filter), member("known", known),
                    .init("reason", reason.map(JSONValue.string) ?? .null),
                ]
            )
        case .scopeNotFound(let scope, let known):
            ("ScopeNotFound", [member("scope", scope), member("known", known)])
        case .componentNotInScope(let component, let scope, let shown):
            (
                "ParameterInvalid",
                [
                    member("parameter", "component"),
                    member(
                        "reason",
                        "The scope '\(scope)' does not show '\(component)', but "
                            + "\(shown.joined(separator: ", ")): leave one of both out."),
                ]
            )
        case .cursorInvalid(let reason): ("CursorInvalid", [member("reason", reason)])
        default: otherParts
        }
    }

    private var otherParts: (name: String, members: [JSONValue.Member]) {
        switch self {
        case .recordInvalid(let component, let key, let reason):
            (
                "RecordInvalid",
                [member("component", component), member("key", key), member("reason", reason)]
            )
        case .actorNotFound(let actor): ("ActorNotFound", [member("actor", actor)])
        case .commentNotFound(let comment): ("CommentNotFound", [member("comment", comment)])
        case .conflict(let comment, let reason):
            ("Conflict", [member("comment", comment), member("reason", reason)])
        case .refused(let reason, let retryAfter):
            ("Refused", [member("reason", reason), retry(retryAfter)])
        case .limitExceeded(let limit, let value, let retryAfter):
            (
                "LimitExceeded",
                [
                    member("limit", limit), .init("value", .int(Int64(value))),
                    retry(retryAfter),
                    .init("setting", LimitSettings.key(of: limit).map(JSONValue.string) ?? .null),
                ]
            )
        case .parameterInvalid(let parameter, let reason):
            ("ParameterInvalid", [member("parameter", parameter), member("reason", reason)])
        case .topicInvalid(let topic, let reason):
            ("TopicInvalid", [member("topic", topic), member("reason", reason)])
        case .screenNotFound(let screen): ("ScreenNotFound", [member("screen", screen)])
        case .storeUnavailable(let reason, let retryAfter):
            ("StoreUnavailable", [member("reason", reason), retry(retryAfter)])
        case .noSpace(let path, let needed, let free):
            (
                "NoSpace",
                [
                    member("path", path), .init("needed", .int(Int64(needed))),
                    .init("free", .int(Int64(free))),
                ]
            )
        case .componentUnavailable(let component, let reason, let retryAfter):
            (
                "ComponentUnavailable",
                [
                    member("component", component), member("reason", reason), retry(retryAfter),
                ]
            )
        default:
            // Every case is in one of the three; this one keeps the compiler's list complete.
            ("Refused", [member("reason", "\(self)")])
        }
    }

    private func member(_ name: String, _ text: String) -> JSONValue.Member {
        .init(name, .string(text))
    }

    private func member(_ name: String, _ list: [String]) -> JSONValue.Member {
        .init(name, .array(list.map(JSONValue.string)))
    }

    private func retry(_ seconds: Double?) -> JSONValue.Member {
        .init("retryAfter", seconds.map(JSONValue.double) ?? .null)
    }
}
