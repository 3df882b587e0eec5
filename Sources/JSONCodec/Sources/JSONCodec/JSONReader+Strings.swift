extension JSONReader {
    /// Reads a string, its escapes resolved.
    ///
    /// - Throws: ``JSONError`` for another kind of value, for bytes that are not UTF-8, for control characters, for
    ///   invalid escapes, including lone surrogates, and for more than 128 combining marks in a row.
    public mutating func readString() throws(JSONError) -> String {
        guard nextByte() == UInt8(ascii: "\"") else { throw typeError(expected: "a string") }
        return try scanString().string
    }

    /// Consumes a string, whose opening quote is the next byte, checks all of it, and returns the text between the
    /// quotes.
    @inline(__always)
    mutating func scanString() throws(JSONError) -> JSONText {
        let start = offset &+ 1
        let end = bytes.endOfPlainText(from: start)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else {
            return try scanString(from: start, plainUpTo: end)
        }
        offset = end &+ 1
        return JSONText(bytes: bytes[start..<end], isEscaped: false, isASCII: true)
    }

    /// The rest of a string in which there is more than plain ASCII.
    @inline(never)
    private mutating func scanString(
        from start: Int, plainUpTo end: Int
    ) throws(JSONError) -> JSONText {
        var position = end
        var isEscaped = false
        var isASCII = true
        while true {
            guard position < bytes.count else {
                throw syntaxError(expected: "the end of the string", at: bytes.count)
            }
            guard position - start <= longestText else {
                throw error(
                    .value, expected: "at most \(longestText) bytes", found: "more", at: start - 1)
            }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let text = JSONText(
                    bytes: bytes[start..<position], isEscaped: isEscaped, isASCII: isASCII)
                guard isLenient || text.hasFewMarksInARow else {
                    throw syntaxError(
                        expected: "at most \(JSONText.marksInARow) combining marks in a row",
                        at: start - 1)
                }
                offset = position + 1
                return text
            case UInt8(ascii: "\\"):
                let length = try lengthOfEscape(at: position)
                isEscaped = true
                // Four digits may stand for any character.
                isASCII = isASCII && length == 2
                position += length
            case 0x80...:
                isASCII = false
                position += try lengthOfScalars(at: position)
            default:
                throw syntaxError(expected: "an escape for a control character", at: position)
            }
            position = bytes.endOfPlainText(from: position)
        }
    }

    private func lengthOfEscape(at position: Int) throws(JSONError) -> Int {
        if position + 1 < bytes.count {
            if bytes[position + 1] == UInt8(ascii: "u") {
                guard let scalar = JSONEscapes.scalar(in: bytes, at: position + 2) else {
                    if isLenient, JSONEscapes.unit(in: bytes, at: position + 2) != nil { return 6 }
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

    /// The length of the run of UTF-8 sequences beyond ASCII that begins at `start`, which ends once it is too long.
    private func lengthOfScalars(at start: Int) throws(JSONError) -> Int {
        var position = start
        repeat {
            position += try lengthOfScalar(at: position)
        } while position < bytes.count && bytes[position] >= 0x80
            && position &- start <= longestText
        return position - start
    }

    /// The length of the UTF-8 sequence that begins at `position` (Unicode 15, table 3-7).
    @inline(__always)
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
