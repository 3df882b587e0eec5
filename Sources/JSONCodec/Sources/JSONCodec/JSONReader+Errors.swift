extension JSONReader {
    /// Makes the error for a value that has the right type and is not allowed here.
    ///
    /// - Parameters:
    ///   - expected: The expected content, such as `one of shown, removed`.
    ///   - found: The content that was found.
    ///   - start: The ``offset`` at which the value begins; by default, the reader's present one.
    /// - Returns: The error, to be thrown.
    public func invalidValue(expected: String, found: String, at start: Int? = nil) -> JSONError {
        error(.value, expected: expected, found: found, at: start)
    }

    /// The error for a member that must be there; made when its object has been read to the end.
    ///
    /// - Parameter name: The member's name.
    /// - Returns: The error, to be thrown.
    public func missingMember(_ name: String) -> JSONError {
        error(.missingMember, expected: "a value", found: "no such member", member: name)
    }

    /// The error for a member that is not declared.
    ///
    /// - Parameter key: The member's name.
    /// - Returns: The error, to be thrown.
    public func unknownMember(_ key: JSONKey) -> JSONError {
        error(
            .unknownMember, expected: "declared members only", found: "one that is not",
            member: JSONPath.name(key.bytes), at: offset(of: key))
    }

    /// Makes the error for a member that occurs twice in its object.
    ///
    /// - Parameter key: The member's name, as read the second time.
    /// - Returns: The error, to be thrown.
    public func duplicateMember(_ key: JSONKey) -> JSONError {
        error(
            .duplicateMember, expected: "each member once", found: "it a second time",
            member: JSONPath.name(key.bytes), at: offset(of: key))
    }

    /// The error for a value of another type than the expected one, or for no value at all.
    func typeError(expected: String) -> JSONError {
        guard offset < bytes.count else { return syntaxError(expected: expected) }
        let found: String
        switch bytes[offset] {
        case UInt8(ascii: "\""): found = "a string"
        case UInt8(ascii: "{"): found = "an object"
        case UInt8(ascii: "["): found = "an array"
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): found = "a number"
        case UInt8(ascii: "t"): found = "true"
        case UInt8(ascii: "f"): found = "false"
        case UInt8(ascii: "n"): found = "null"
        default: return syntaxError(expected: expected)
        }
        return error(.type, expected: expected, found: found)
    }

    /// The error for nesting beyond the limit, by the bracket at `start`.
    func depthError(at start: Int) -> JSONError {
        error(
            .depth, expected: "nesting no deeper than \(depthLimit)", found: "one level more",
            at: start)
    }

    /// The error for a byte that does not belong where the reader is, or at `start`.
    func syntaxError(expected: String, at start: Int? = nil) -> JSONError {
        error(.syntax, expected: expected, found: foundByte(at: start ?? offset), at: start)
    }

    func error(
        _ kind: JSONError.Kind, expected: String, found: String, member: String? = nil,
        at start: Int? = nil
    ) -> JSONError {
        let place = start ?? offset
        var path = JSONPath(in: bytes, at: place)
        if let member { path = path.appending(member) }
        return JSONError(kind: kind, offset: place, path: path, expected: expected, found: found)
    }

    /// Returns the offset of a name's opening quote in the text.
    private func offset(of key: JSONKey) -> Int {
        key.bytes.start - bytes.start - 1
    }

    private func foundByte(at position: Int) -> String {
        guard position < bytes.count else { return "the end of the text" }
        let byte = bytes[position]
        guard (0x21..<0x7F).contains(byte) else {
            return "the byte 0x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
        }
        return "'\(Character(Unicode.Scalar(byte)))'"
    }
}
