/// The type of a field.
public indirect enum FieldType: Sendable, Hashable {
    /// `bool`
    case bool
    /// `int`: 64 bits.
    case int
    /// `float`: 64 bits.
    case float
    /// `string`
    case string
    /// `object`: any JSON object.
    case object
    /// `any`: any JSON value.
    case any
    /// The name of a type that the interface defines.
    case named(String)
    /// A structure without a name.
    case structure(Structure)
    /// An enumeration without a name.
    case enumeration(Enumeration)
    /// `[]T`
    case array(FieldType)
    /// `[string]T`
    case map(FieldType)
    /// `?T`, whose `T` is not nullable itself.
    case nullable(FieldType)
}

/// Fields in parentheses.
public struct Structure: Sendable, Hashable {
    /// Its fields, in order, by unique names.
    public let fields: [Field]
}

/// A field of a structure.
public struct Field: Sendable, Hashable {
    /// Its name.
    public let name: String

    /// The comment above it; empty where there is none.
    public let documentation: String

    /// Its type.
    public let type: FieldType

    /// Where its name stands.
    public let position: TextPosition
}

/// Values in parentheses, at least one.
public struct Enumeration: Sendable, Hashable {
    /// The values, in order, by unique names.
    public let values: [EnumerationValue]
}

/// A value of an enumeration.
public struct EnumerationValue: Sendable, Hashable {
    /// Its name, which is what stands in JSON.
    public let name: String

    /// The comment above it; empty where there is none.
    public let documentation: String

    /// Where its name stands.
    public let position: TextPosition
}

extension FieldType: CustomStringConvertible {
    /// The type as a definition writes it, on one line and without comments: equal for equal types.
    public var description: String {
        switch self {
        case .bool: "bool"
        case .int: "int"
        case .float: "float"
        case .string: "string"
        case .object: "object"
        case .any: "any"
        case .named(let name): name
        case .structure(let structure): structure.description
        case .enumeration(let enumeration):
            "(" + enumeration.values.map(\.name).joined(separator: ", ") + ")"
        case .array(let element): "[]\(element)"
        case .map(let element): "[string]\(element)"
        case .nullable(let type): "?\(type)"
        }
    }
}

extension Structure: CustomStringConvertible {
    /// The structure as a definition writes it, on one line and without comments.
    public var description: String {
        "(" + fields.map { "\($0.name): \($0.type)" }.joined(separator: ", ") + ")"
    }
}
