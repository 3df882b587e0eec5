/// An object that is passed on as it came: its checked bytes, without whitespace, and no tree.
///
/// Equal means equal bytes: the same members in another order, or a number written in another way,
/// make another object. Compare ``value``s for more.
public struct JSONObject: Sendable, Hashable {
    /// The text: UTF-8, from `{` to `}`, no whitespace outside of strings.
    public let bytes: [UInt8]

    /// The object without members.
    public static let empty = JSONObject(checked: Array("{}".utf8))

    /// Checks a text.
    ///
    /// - Parameters:
    ///   - bytes: The text of one object, with optional whitespace around it.
    ///   - depthLimit: The maximum nesting; 64 by default.
    /// - Throws: ``JSONError`` if it is not JSON, or no object.
    public init(_ bytes: [UInt8], depthLimit: Int = JSON.defaultDepthLimit) throws(JSONError) {
        self = try JSON.decode(from: bytes, depthLimit: depthLimit)
    }

    /// Checks a text.
    ///
    /// - Parameters:
    ///   - text: The text of one object, with optional whitespace around it.
    ///   - depthLimit: The maximum nesting; 64 by default.
    /// - Throws: ``JSONError`` if it is not JSON, or no object.
    public init(_ text: String, depthLimit: Int = JSON.defaultDepthLimit) throws(JSONError) {
        self = try JSON.decode(from: text, depthLimit: depthLimit)
    }

    /// Makes an object of members.
    ///
    /// - Parameter members: Its members; of duplicate names, the last one counts.
    public init(_ members: [JSONValue.Member]) {
        var value = JSONValue.object([])
        for member in members { value[member.name] = member.value }
        self.init(checked: JSON.encode(value))
    }

    /// Makes an object of a tree.
    ///
    /// - Parameter value: The tree; nil is returned for one that is no object.
    public init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        self.init(members)
    }

    /// Makes an object from a value that writes itself as one, such as the parameters of a call; nil if it writes no
    /// object.
    ///
    /// - Parameter value: The value.
    public init?(writing value: some JSONWritable) {
        let bytes = JSON.encode(value)
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        self.init(checked: bytes)
    }

    /// The tree.
    public var value: JSONValue {
        // The bytes were checked, up to the deepest nesting there is: reading them does not fail.
        (try? JSON.decode(from: bytes, depthLimit: .max)) ?? .object([])
    }

    /// The text as a string.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether it has no members.
    public var isEmpty: Bool { bytes.count == 2 }

    /// Makes an object from bytes that were checked before, or written by a ``JSONWriter``.
    ///
    /// - Parameter bytes: The text of one object without whitespace; it is not checked.
    public init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension JSONObject: JSONReadable, JSONWritable {
    /// Reads an object, checking all of it.
    ///
    /// - Parameter json: The reader.
    /// - Throws: ``JSONError`` where it is not JSON, or no object.
    public init(json: inout JSONReader) throws(JSONError) {
        guard try json.peek() == .object else { throw json.typeError(expected: "an object") }
        self.init(checked: try json.compactValue())
    }

    /// Writes the object as it came.
    public func write(to json: inout JSONWriter) {
        json.raw(bytes)
    }
}

extension JSONObject: CustomStringConvertible, ExpressibleByDictionaryLiteral {
    /// The text.
    public var description: String { text }

    /// Makes an object of members.
    ///
    /// - Parameter elements: The members; of duplicate names, the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { JSONValue.Member($0.0, $0.1) })
    }
}
