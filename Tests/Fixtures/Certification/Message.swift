internal import JSONCodec
internal import Varlink

/// A call as a message, to be compared and shown.
///
/// Equal messages have equal members, in whatever order.
struct Message: Equatable {
    private let value: JSONValue

    /// A call that carries something.
    init(_ method: String, _ parameters: some VarlinkCodable, flag: String?) {
        var value = JSONValue.object([.init("method", .string(method))])
        value["parameters"] = try? JSON.decode(JSONValue.self, from: JSON.encode(parameters))
        if let flag { value[flag] = true }
        self.value = value.inOrder
    }

    /// A call of which only the name is known.
    init(_ method: String) {
        value = .object([.init("method", .string(method))])
    }

    var object: JSONObject {
        guard case .object(let members) = value else { return .empty }
        return JSONObject(members)
    }
}

extension JSONValue {
    /// The value with the members of all objects sorted by name.
    var inOrder: JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.map { Member($0.name, $0.value.inOrder) }.sorted { $0.name < $1.name })
        case .array(let elements): .array(elements.map(\.inOrder))
        case .null, .bool, .int, .double, .string: self
        }
    }
}
