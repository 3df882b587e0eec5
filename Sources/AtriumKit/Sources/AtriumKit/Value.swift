/// A piece of structured data in records, settings, fields and payloads: JSON's types, with integers distinguished from
/// fractions.
@frozen
public enum Value: Sendable, Hashable {
    /// No value.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A number that has, or may have, a fraction; finite.
    case number(Double)
    /// Text, any Unicode.
    case text(String)
    /// Values in order.
    case list([Value])
    /// Values by name.
    case object([String: Value])
}

extension Value {
    /// The text, or nil for any other type.
    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The number, whole or not, or nil for any other type.
    public var number: Double? {
        switch self {
        case .int(let int): Double(int)
        case .number(let number): number
        default: nil
        }
    }

    /// The whole number (also one written as `4.0`), or nil for any other value.
    public var int: Int64? {
        switch self {
        case .int(let int): int
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The truth value, or nil for any other type.
    public var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// The list, or nil for any other type.
    public var list: [Value]? {
        if case .list(let list) = self { list } else { nil }
    }

    /// The object, or nil for any other type.
    public var object: [String: Value]? {
        if case .object(let object) = self { object } else { nil }
    }

    /// Whether this is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The name of the type, as in error messages.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .int: "integer"
        case .number: "number"
        case .text: "text"
        case .list: "list"
        case .object: "object"
        }
    }
}

/// Encoded as its content; a number without a fraction may be decoded as a whole number.
extension Value: Codable {
    /// Decodes null, a boolean, a number, text, a list or an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? container.decode(Int64.self) {
            self = .int(int)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([Value].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Value].self))
        }
    }

    /// Encodes the content.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .int(let int): try container.encode(int)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        }
    }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A fraction.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A list.
    public init(arrayLiteral elements: Value...) { self = .list(elements) }
    /// An object; the last value of a repeated name counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    /// Null.
    public init(nilLiteral: ()) { self = .null }
}
