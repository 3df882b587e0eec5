import AtriumFormats
import Interfaces
import JSONCodec

/// An object whose fields stand beside its id becomes an item.
extension ItemShape {
    /// The item of an object's members, and which of its fields they name.
    func item(
        _ object: [JSONValue.Member]
    ) throws(ImportLineError) -> (item: Contents.Put.Parameters.Items, named: NamedFields?) {
        var members: [JSONValue.Member] = []
        var (id, parent): (String?, String?)
        var roles: [Role] = []
        for member in object {
            let role = role(of: member.name)
            if let role { roles.append(role) }
            switch role {
            case .id: id = try Self.name(member)
            case .parent: parent = try Self.name(member)
            case .ignored: break
            case nil: throw unknown(member.name)
            case .field(let field):
                if let value = try value(member.value, of: field) {
                    members.append(.init(field.name, value))
                }
            }
        }
        if !wishes.id.isEmpty {
            id = ItemText.slug(wishes.id.compactMap { Self.text($0, in: object) })
        }
        guard let id, !id.isEmpty else {
            throw ImportLineError(
                reason: wishes.id.isEmpty
                    ? "there is no 'id'; --id makes ids of other members, as in --id title,year"
                    : "there is no id: nothing stands in '\(wishes.id.joined(separator: "', '"))'")
        }
        return (.init(id: id, fields: JSONObject(members), parent: parent), named(roles))
    }

    /// An id as a text or a whole number; nil for null.
    private static func name(_ member: JSONValue.Member) throws(ImportLineError) -> String? {
        if member.value == .null { return nil }
        guard let name = text(member.value) else {
            throw ImportLineError(reason: "\(member.name): expected a text or a whole number")
        }
        return name
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .int(let number): "\(number)"
        default: nil
        }
    }

    private static func text(_ name: String, in object: [JSONValue.Member]) -> String? {
        object.first { ItemText.isSame($0.name, name) }.flatMap { text($0.value) }
    }
}
