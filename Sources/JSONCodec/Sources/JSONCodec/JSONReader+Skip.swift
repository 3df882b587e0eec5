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

    /// Consumes the next value, and checks that its grammar is JSON's (RFC 8259).
    ///
    /// The limits of this reader do not count, except for the nesting: numbers beyond `Double`, duplicate names, lone
    /// surrogates and any number of combining marks pass. Reading what it returns may throw.
    ///
    /// - Returns: Its bytes, in the reader's text, without whitespace around them.
    /// - Throws: ``JSONError`` if it is not JSON, or nests too deeply.
    public mutating func rawValueOfAnySize() throws(JSONError) -> UnsafeRawBufferPointer {
        isLenient = true
        defer { isLenient = false }
        return try rawValue()
    }

    /// Consumes the next value by its brackets and quotes alone, and checks nothing else of it.
    ///
    /// It takes the same time whatever the value consists of: a nanosecond or two for each byte. What it returns may be
    /// no JSON at all.
    ///
    /// - Returns: Its bytes, in the reader's text, without whitespace around them.
    /// - Throws: ``JSONError`` where no value begins, where the text ends within it, and for nesting beyond the limit.
    public mutating func skimValue() throws(JSONError) -> UnsafeRawBufferPointer {
        let kind = try peek()
        let start = offset
        switch kind {
        case .string: offset = try endOfSkimmedString(from: start + 1)
        case .array, .object: offset = try endOfSkimmedBrackets(from: start)
        case .number, .bool, .null:
            while offset < bytes.count, !bytes[offset].endsWord { offset += 1 }
        }
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
            guard names.insert(key) || isLenient else { throw duplicateMember(key) }
            try skipValue()
        }
    }

    /// The place after the bracket that closes the one at `start`; which kind of bracket it is, is not checked.
    private func endOfSkimmedBrackets(from start: Int) throws(JSONError) -> Int {
        var position = start
        var depth = 0
        while position < bytes.count {
            let byte = bytes[position]
            position &+= 1
            if byte == UInt8(ascii: "\"") {
                position = try endOfSkimmedString(from: position)
            } else if byte | 0x20 == UInt8(ascii: "{") {
                // With this bit set, both opening brackets are the same, and so are both closing ones.
                guard self.depth + depth < depthLimit else {
                    throw depthError(at: position - 1)
                }
                depth &+= 1
            } else if byte | 0x20 == UInt8(ascii: "}") {
                depth &-= 1
                if depth == 0 { return position }
            }
        }
        throw syntaxError(expected: "the end of the value", at: bytes.count)
    }

    /// The place after the quote that ends a string, whose text begins at `start`.
    @inline(__always)
    private func endOfSkimmedString(from start: Int) throws(JSONError) -> Int {
        var position = bytes.endOfUnescapedText(from: start)
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): return position &+ 1
            case UInt8(ascii: "\\"): position = min(position &+ 2, bytes.count)
            default: position &+= 1
            }
            position = bytes.endOfUnescapedText(from: position)
        }
        throw syntaxError(expected: "the end of the string", at: bytes.count)
    }
}

extension UInt8 {
    /// Whether a number or a word ends before this byte.
    fileprivate var endsWord: Bool {
        switch self {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): true
        default: false
        }
    }
}
