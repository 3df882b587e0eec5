import JSONCodec
import VarlinkIDL

/// Whether a reply is what the method's definition says.
struct ReplyCheck {
    let interfaces: [InterfaceDefinition]

    /// Errors that any method may end with.
    private static let common: Set = [
        "org.atrium.Daemon.RoleRequired", "org.atrium.Daemon.ActorForbidden",
        "org.atrium.Daemon.ParameterInvalid",
    ]

    /// The bytes that a call of any method may have.
    private static let shortest = 64 << 10

    /// What is wrong with a reply, in words; nil: nothing.
    func problem(_ reply: JSONValue, to call: CallGenerator.Call) -> String? {
        let parameters = reply["parameters"] ?? [:]
        guard let error = reply["error"]?.string else {
            return problem(parameters, .structure(call.method.reply), call.interface, "reply")
        }
        if error.hasPrefix("org.varlink.service.") { return nil }
        // The server's own, of calls that are longer than their method takes.
        if error == "org.atrium.Varlink.LimitExceeded", call.frame.count > Self.shortest {
            return parameters["limit"]?.string == "methodBytes"
                ? nil : "the limit \(parameters["limit"] ?? .null)"
        }
        for interface in interfaces where error.hasPrefix(interface.name + ".") {
            guard Self.common.contains(error) || interface.name == call.interface.name else {
                return "it ends with the error \(error), another interface's"
            }
            let name = error.dropFirst(interface.name.count + 1)
            guard let definition = interface.errors.first(where: { $0.name == name }) else {
                continue
            }
            return problem(parameters, .structure(definition.parameters), interface, error)
        }
        return "it ends with the error \(error), which is not defined"
    }

    private func problem(
        _ value: JSONValue, _ type: FieldType, _ interface: InterfaceDefinition, _ path: String
    ) -> String? {
        switch (type, value) {
        case (.nullable, .null), (.any, _), (.bool, .bool), (.string, .string): return nil
        case (.object, .object): return nil
        case (.int, _) where value.int != nil: return nil
        case (.float, _) where value.double != nil: return nil
        case (.nullable(let type), _): return problem(value, type, interface, path)
        case (.named(let name), _):
            guard let named = interface.types.first(where: { $0.name == name }) else { return path }
            return problem(value, named.type, interface, path)
        case (.enumeration(let values), .string(let text))
        where values.values.contains { $0.name == text }:
            return nil
        case (.array(let element), .array(let list)):
            return list.enumerated().lazy.compactMap {
                problem($1, element, interface, "\(path)[\($0)]")
            }.first
        case (.map(let element), .object(let members)):
            return members.lazy.compactMap {
                problem($0.value, element, interface, "\(path).\($0.name)")
            }.first
        case (.structure(let fields), .object(let members)):
            let names = Set(fields.fields.map(\.name))
            if let other = members.first(where: { !names.contains($0.name) }) {
                return "\(path).\(other.name) is not defined"
            }
            return fields.fields.lazy.compactMap {
                problem(value[$0.name] ?? .null, $0.type, interface, "\(path).\($0.name)")
            }.first
        default: return "\(path) is no \(type): \("\(value)".prefix(200))"
        }
    }
}
