extension JSONReader {
    /// Reads a string, its escapes resolved.
    ///
    /// - Throws: ``JSONError`` for another kind of value, for bytes that are not UTF-8, for control
    ///   characters and for escapes that stand for nothing, lone surrogates among them.
    public mutating func readString() throws(JSONError) -> String {
        guard nextByte() == UInt8(ascii: "\"") else { throw typeError(expected: "a string") }
        let (content, isEscaped) = try scanString()
        guard isEscaped else { return String(decoding: content, as: UTF8.self) }
        return String(decoding: JSONEscapes.resolve(content), as: UTF8.self)
    }

    /// Consumes a string, whose opening quote is the next byte, and checks all of it.
    ///
    /// - Returns: What stands between the quotes, and whether there are escapes in it.
    mutating func scanString() throws(JSONError) -> (
        content: UnsafeRawBufferPointer, isEscaped: Bool
    ) {
        let start = offset + 1
        var position = start
        var isEscaped = false
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                offset = position + 1
                let content = UnsafeRawBufferPointer(rebasing: bytes[start..<position])
                return (content, isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                position += try lengthOfEscape(at: position)
            case 0x20..<0x80:
                position += 1
            case 0x80...:
                position += try lengthOfScalar(at: position)
            default:
                throw syntaxError(expected: "an escape for a control character", at: position)
            }
        }
        throw syntaxError(expected: "the end of the string", at: bytes.count)
    }

    private func lengthOfEscape(at position: Int) throws(JSONError) -> Int {
        if position + 1 < bytes.count {
            if bytes[position + 1] == UInt8(ascii: "u") {
                guard let scalar = JSONEscapes.scalar(in: bytes, at: position + 2) else {
                    throw syntaxError(
                        expected: "four hexadecimal digits that make a character, "
                            + "or a pair of surrogates",
                        at: position)
                }
                return scalar.length + 2
            }
            if JSONEscapes.single(bytes[position + 1]) != nil { return 2 }
        }
        throw syntaxError(expected: "one of \" \\ / b f n r t u after the backslash", at: position)
    }

    /// The length of the UTF-8 sequence that begins at `position` (Unicode 15, table 3-7).
    private func lengthOfScalar(at position: Int) throws(JSONError) -> Int {
        let first = bytes[position]
        let second: ClosedRange<UInt8>
        let length: Int
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw syntaxError(expected: "UTF-8", at: position)
        }
        guard position + length <= bytes.count, second.contains(bytes[position + 1]),
            length < 3 || bytes[position + 2] & 0xC0 == 0x80,
            length < 4 || bytes[position + 3] & 0xC0 == 0x80
        else { throw syntaxError(expected: "UTF-8", at: position) }
        return length
    }
}
