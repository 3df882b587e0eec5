/// Strict JSON (RFC 8259) over bytes: whole texts in, whole texts out.
///
/// What this module promises:
///
/// - It accepts only unambiguous JSON: valid UTF-8, no duplicate members, no lone surrogates, no number beyond the
///   range of `Double`, nothing after the value, no deeper than a limit.
/// - Bad input throws a ``JSONError`` with the place, what was expected and what was found. It never crashes, and
///   nothing is repaired.
/// - Types read and write themselves through ``JSONReader`` and ``JSONWriter``; no tree is built, except for a
///   ``JSONValue``.
/// - A value that is written and read again is equal, except that a ``JSONValue/double(_:)`` of integral value comes
///   back as an ``JSONValue/int(_:)``.
public enum JSON {
    /// Nesting that is accepted by default: 64 arrays and objects within each other.
    public static let defaultDepthLimit = 64

    /// Reads one value that makes up the whole of `bytes`.
    ///
    /// - Parameters:
    ///   - type: The type to read.
    ///   - bytes: The text; its memory is only used during the call.
    ///   - allowsUnknownMembers: Whether members that a type does not declare are skipped. By default they are refused.
    ///   - depthLimit: The maximum nesting of arrays and objects; 64 by default, at most 1,024.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` if the text is not JSON, or does not fit the type.
    @inlinable
    public static func decode<Value: JSONReadable>(
        _ type: Value.Type = Value.self,
        from bytes: UnsafeRawBufferPointer,
        allowsUnknownMembers: Bool = false,
        depthLimit: Int = defaultDepthLimit
    ) throws(JSONError) -> Value {
        var reader = JSONReader(bytes, depthLimit: depthLimit)
        reader.allowsUnknownMembers = allowsUnknownMembers
        let value = try Value(json: &reader)
        try reader.end()
        return value
    }

    /// Reads one value that makes up the whole of `bytes`.
    ///
    /// - Parameters:
    ///   - type: The type to read.
    ///   - bytes: The text.
    ///   - allowsUnknownMembers: Whether members that a type does not declare are skipped. By default they are refused.
    ///   - depthLimit: The maximum nesting of arrays and objects; 64 by default, at most 1,024.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` if the text is not JSON, or does not fit the type.
    @inlinable
    public static func decode<Value: JSONReadable>(
        _ type: Value.Type = Value.self,
        from bytes: [UInt8],
        allowsUnknownMembers: Bool = false,
        depthLimit: Int = defaultDepthLimit
    ) throws(JSONError) -> Value {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONError) -> Value in
                try decode(
                    type, from: buffer, allowsUnknownMembers: allowsUnknownMembers,
                    depthLimit: depthLimit)
            }
        }
        return try result.get()
    }

    /// Reads one value that makes up the whole of `text`.
    ///
    /// - Parameters:
    ///   - type: The type to read.
    ///   - text: The text.
    ///   - allowsUnknownMembers: Whether members that a type does not declare are skipped. By default they are refused.
    ///   - depthLimit: The maximum nesting of arrays and objects; 64 by default, at most 1,024.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` if the text is not JSON, or does not fit the type.
    @inlinable
    public static func decode<Value: JSONReadable>(
        _ type: Value.Type = Value.self,
        from text: String,
        allowsUnknownMembers: Bool = false,
        depthLimit: Int = defaultDepthLimit
    ) throws(JSONError) -> Value {
        try decode(
            type, from: Array(text.utf8), allowsUnknownMembers: allowsUnknownMembers,
            depthLimit: depthLimit)
    }

    /// Writes a value as the shortest text: no whitespace.
    ///
    /// - Parameter value: The value.
    /// - Returns: UTF-8 bytes, without a final newline.
    @inlinable
    public static func encode(_ value: some JSONWritable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }

    /// Writes a value for people to read: each member and element on a line of its own, indented by two spaces a level.
    ///
    /// - Parameter value: The value.
    /// - Returns: The text, without a final newline.
    public static func pretty(_ value: JSONValue) -> String {
        var text = ""
        appendPretty(value, indent: "", to: &text)
        return text
    }

    private static func appendPretty(_ value: JSONValue, indent: String, to text: inout String) {
        let deeper = indent + "  "
        switch value {
        case .array(let elements) where !elements.isEmpty:
            text += "[\n"
            for (index, element) in elements.enumerated() {
                text += index == 0 ? deeper : ",\n" + deeper
                appendPretty(element, indent: deeper, to: &text)
            }
            text += "\n\(indent)]"
        case .object(let members) where !members.isEmpty:
            text += "{\n"
            for (index, member) in members.enumerated() {
                text += index == 0 ? deeper : ",\n" + deeper
                text += String(decoding: encode(member.name), as: UTF8.self) + ": "
                appendPretty(member.value, indent: deeper, to: &text)
            }
            text += "\n\(indent)}"
        default:
            text += String(decoding: encode(value), as: UTF8.self)
        }
    }
}
