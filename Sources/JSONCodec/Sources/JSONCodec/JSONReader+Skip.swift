extension JSONReader {
    /// Consumes the next value, whatever it is, and checks all of it.
    ///
    /// - Throws: ``JSONError`` if it is not JSON, or a name occurs twice in one object.
    public mutating func skipValue() throws(JSONError) {
        switch try peek() {
        case .string: _ = try scanString()
        case .number: try skipNumber()
        case .bool: _ = try readBool()
        case .null: _ = try readNull()
        case .object: try skipObject()
        case .array:
            try beginArray()
            while try nextElement() { try skipValue() }
        }
    }

    /// Consumes the next value, and checks all of it.
    ///
    /// - Returns: Its bytes, in the reader's text, without whitespace around them.
    /// - Throws: ``JSONError`` if it is not JSON, or a name occurs twice in one object.
    public mutating func rawValue() throws(JSONError) -> UnsafeRawBufferPointer {
        _ = nextByte()
        let start = offset
        try skipValue()
        return bytes[start..<offset].buffer
    }

    /// Handles a member that is not declared: skips it if that is allowed.
    ///
    /// - Parameters:
    ///   - key: The member's name, just read.
    ///   - others: The undeclared members read before in this object.
    /// - Throws: ``JSONError`` if undeclared members are refused, and for one that occurs twice.
    public mutating func skipUnknownMember(
        _ key: JSONKey, among others: inout JSONKeySet
    ) throws(JSONError) {
        guard allowsUnknownMembers else { throw unknownMember(key) }
        guard others.insert(key) else { throw duplicateMember(key) }
        try skipValue()
    }

    /// Consumes the next value and copies it without the whitespace outside of its strings.
    mutating func compactValue() throws(JSONError) -> [UInt8] {
        _ = nextByte()
        let outerSawSpace = sawSpace
        sawSpace = false
        let raw = try rawValue()
        defer { sawSpace = sawSpace || outerSawSpace }
        guard sawSpace else { return [UInt8](raw) }
        var result: [UInt8] = []
        result.reserveCapacity(raw.count)
        var isInString = false
        var isEscaped = false
        for byte in raw {
            if isInString {
                result.append(byte)
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte > 0x20 {
                result.append(byte)
                isInString = byte == UInt8(ascii: "\"")
            }
        }
        return result
    }

    private mutating func skipObject() throws(JSONError) {
        try beginObject()
        var names = JSONScope()
        while let key = try nextKey() {
            guard names.insert(key) else { throw duplicateMember(key) }
            try skipValue()
        }
    }
}
