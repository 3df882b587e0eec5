/// A pull reader: takes values from a text one by one, in order, without building anything.
///
/// ```swift
/// try json.beginObject()
/// while let key = try json.nextKey() {
///     switch key {
///     case "id": id = try json.readString()
///     default: try json.skipValue()
///     }
/// }
/// ```
///
/// It points into memory that it does not own: it, its keys and its raw values are valid only inside
/// the closure that was given the memory. After a key, exactly one value is to be read or skipped; a
/// reader that threw is of no more use.
public struct JSONReader {
    /// The kind of a value, which its first byte decides.
    public enum Kind: Sendable, Hashable {
        /// `null`
        case null
        /// `true` or `false`
        case bool
        /// A number, integral or not.
        case number
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object
    }

    /// Whether members that a type does not declare are skipped rather than refused.
    ///
    /// False by default: a typo in an optional member's name must not pass in silence. Set it where
    /// the writer may be newer than the reader.
    public var allowsUnknownMembers = false

    /// The number of bytes that were consumed.
    public internal(set) var offset = 0

    /// The maximum number of bytes between the quotes of a name or string, escapes and all.
    ///
    /// Unlimited by default. A text of plain ASCII passes nevertheless: it costs next to nothing to read.
    public var longestText = Int.max

    let bytes: JSONBytes

    /// Whether whitespace was met outside of strings: texts that are passed on lose it.
    var sawSpace = false

    /// Whether what is read is held to JSON's grammar alone, see ``rawValueOfAnySize()``.
    var isLenient = false

    /// Whether a whole number that 64 bits don't hold is a string of a tree, see ``JSONValue/init(keepingDigits:)``.
    var keepsDigits = false

    let depthLimit: Int
    private(set) var depth = 0

    /// Whether an array or object has begun and none of its elements has: no comma comes first.
    private var isAtStart = false

    /// Makes a reader at the start of a text.
    ///
    /// - Parameters:
    ///   - bytes: The text; must stay valid and unchanged while the reader is used.
    ///   - depthLimit: The maximum nesting of arrays and objects; 64 by default, at least 1 and at most 1,024, so that
    ///     no text can exhaust the stack.
    public init(_ bytes: UnsafeRawBufferPointer, depthLimit: Int = JSON.defaultDepthLimit) {
        self.bytes = JSONBytes(bytes)
        self.depthLimit = min(max(depthLimit, 1), 1_024)
    }

    /// The kind of the next value, which is left where it is.
    ///
    /// - Throws: ``JSONError`` where no value begins.
    @inline(__always)
    public mutating func peek() throws(JSONError) -> Kind {
        guard let byte = nextByte() else { throw syntaxError(expected: "a value") }
        switch byte {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw syntaxError(expected: "a value")
        }
    }

    /// Enters an object; ``nextKey()`` then leads through its members.
    ///
    /// - Throws: ``JSONError`` for another kind of value, and for nesting beyond the limit.
    public mutating func beginObject() throws(JSONError) {
        try begin(UInt8(ascii: "{"), expected: "an object")
    }

    /// Reads the name of the object's next member, whose value has to be read next; nil at the object's end, which is
    /// consumed.
    ///
    /// The caller has to find duplicate names: see ``duplicateMember(_:)``.
    ///
    /// - Throws: ``JSONError`` if neither a member nor the end comes next.
    public mutating func nextKey() throws(JSONError) -> JSONKey? {
        if let key = nextPlainKey() { return key }
        if try isAtEnd(UInt8(ascii: "}"), expected: "a comma or the end of the object") {
            return nil
        }
        guard nextByte() == UInt8(ascii: "\"") else {
            throw syntaxError(expected: "the name of a member in quotes")
        }
        let text = try scanString()
        guard nextByte() == UInt8(ascii: ":") else {
            throw syntaxError(expected: "a colon")
        }
        offset += 1
        return JSONKey(text)
    }

    /// Enters an array; ``nextElement()`` then leads through its elements.
    ///
    /// - Throws: ``JSONError`` for another kind of value, and for nesting beyond the limit.
    public mutating func beginArray() throws(JSONError) {
        try begin(UInt8(ascii: "["), expected: "an array")
    }

    /// Whether the array has another element, which has to be read next; false at the array's end, which is consumed.
    ///
    /// - Throws: ``JSONError`` if neither an element nor the end comes next.
    public mutating func nextElement() throws(JSONError) -> Bool {
        try !isAtEnd(UInt8(ascii: "]"), expected: "a comma or the end of the array")
    }

    /// Reads `true` or `false`.
    ///
    /// - Throws: ``JSONError`` for another kind of value.
    public mutating func readBool() throws(JSONError) -> Bool {
        switch nextByte() {
        case UInt8(ascii: "t"):
            try readWord("true")
            return true
        case UInt8(ascii: "f"):
            try readWord("false")
            return false
        default:
            throw typeError(expected: "true or false")
        }
    }

    /// Consumes `null` if it comes next; otherwise consumes nothing.
    ///
    /// - Returns: Whether it was `null`.
    /// - Throws: ``JSONError`` for a word that only begins like it.
    public mutating func readNull() throws(JSONError) -> Bool {
        guard nextByte() == UInt8(ascii: "n") else { return false }
        try readWord("null")
        return true
    }

    /// Checks that nothing but whitespace follows.
    ///
    /// - Throws: ``JSONError`` at the first other byte.
    public mutating func end() throws(JSONError) {
        guard nextByte() == nil else { throw syntaxError(expected: "the end of the text") }
    }

    /// The next byte that is not whitespace, left where it is; nil at the end of the text.
    @inline(__always)
    mutating func nextByte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        let byte = bytes[offset]
        return byte > 0x20 ? byte : nextByteAfterSpace()
    }

    private mutating func nextByteAfterSpace() -> UInt8? {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            default: return bytes[offset]
            }
            sawSpace = true
        }
        return nil
    }

    /// Consumes and returns a name in its usual form: no whitespace, no escapes, nothing but ASCII; nil, with nothing
    /// consumed, for any other.
    @inline(__always)
    private mutating func nextPlainKey() -> JSONKey? {
        var start = offset
        if !isAtStart {
            guard start < bytes.count, bytes[start] == UInt8(ascii: ",") else { return nil }
            start &+= 1
        }
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
        start &+= 1
        let end = bytes.endOfPlainText(from: start)
        guard end &+ 1 < bytes.count, bytes[end] == UInt8(ascii: "\""),
            bytes[end &+ 1] == UInt8(ascii: ":")
        else { return nil }
        isAtStart = false
        offset = end &+ 2
        return JSONKey(JSONText(bytes: bytes[start..<end], isEscaped: false, isASCII: true))
    }

    private mutating func begin(_ bracket: UInt8, expected: String) throws(JSONError) {
        guard nextByte() == bracket else { throw typeError(expected: expected) }
        guard depth < depthLimit else {
            throw depthError(at: offset)
        }
        depth += 1
        offset += 1
        isAtStart = true
    }

    /// Consumes the bracket that ends an array or object, or the comma before the next element.
    @inline(__always)
    private mutating func isAtEnd(_ bracket: UInt8, expected: String) throws(JSONError) -> Bool {
        let byte = nextByte()
        if byte == bracket {
            offset += 1
            depth -= 1
            isAtStart = false
            return true
        }
        if isAtStart {
            isAtStart = false
        } else {
            guard byte == UInt8(ascii: ",") else { throw syntaxError(expected: expected) }
            offset += 1
        }
        return false
    }

    @inline(__always)
    private mutating func readWord(_ word: StaticString) throws(JSONError) {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[offset..<end].isEqual(to: JSONBytes(word))
        else { throw syntaxError(expected: word.description) }
        offset = end
    }
}
