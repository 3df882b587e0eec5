/// The name of a member, as it is written in the text.
///
/// It points into the reader's text and is valid as long as that is. Compare it with literals, in `==` or in a
/// `switch`: that allocates nothing.
public struct JSONKey {
    /// The bytes between the quotes, escapes and all.
    @usableFromInline let bytes: JSONBytes

    /// Whether there are escapes among ``bytes``.
    @usableFromInline let isEscaped: Bool

    private let isASCII: Bool

    /// A name that represents the absence of one.
    static var none: JSONKey {
        JSONKey(JSONText(bytes: .none, isEscaped: false, isASCII: true))
    }

    init(_ text: JSONText) {
        bytes = text.bytes
        isEscaped = text.isEscaped
        isASCII = text.isASCII
    }

    /// The number of bytes between the quotes, escapes and all.
    public var byteCount: Int { bytes.count }

    /// The name, without escapes.
    public var string: String {
        JSONText(bytes: bytes, isEscaped: isEscaped, isASCII: isASCII).string
    }

    /// Whether the name is this one, byte for byte.
    ///
    /// - Parameters:
    ///   - key: The name in the text.
    ///   - name: A literal.
    /// - Returns: Whether they are the same.
    @inlinable @inline(__always)
    public static func == (key: JSONKey, name: StaticString) -> Bool {
        guard !key.isEscaped, name.hasPointerRepresentation else {
            return key.isSlowlyEqual(to: name)
        }
        let other = JSONBytes(
            start: UnsafeRawPointer(name.utf8Start), count: name.utf8CodeUnitCount)
        return key.bytes.isEqual(to: other)
    }

    /// Whether the name is this one, byte for byte; it lets literals be cases of a `switch`.
    ///
    /// - Parameters:
    ///   - name: A literal.
    ///   - key: The name in the text.
    /// - Returns: Whether they are the same.
    @inlinable @inline(__always)
    public static func ~= (name: StaticString, key: JSONKey) -> Bool {
        key == name
    }

    @usableFromInline
    func isSlowlyEqual(to name: StaticString) -> Bool {
        // A literal that is a single character has no memory of its own.
        var text = name.description
        return text.withUTF8 { other in
            var resolved = ResolvedBytes(bytes)
            for byte in other where resolved.next() != byte { return false }
            return resolved.next() == nil
        }
    }
}

extension JSONKey: Hashable {
    /// Whether both are the same name, byte for byte once their escapes are resolved.
    ///
    /// - Parameters:
    ///   - left: A name.
    ///   - right: Another.
    /// - Returns: Whether they are the same.
    public static func == (left: JSONKey, right: JSONKey) -> Bool {
        guard left.isEscaped || right.isEscaped else { return left.bytes.isEqual(to: right.bytes) }
        return JSONEscapes.areSame(left.bytes, right.bytes)
    }

    /// Feeds the name without its escapes.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) {
        if isEscaped {
            withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { buffer in
                let count = JSONEscapes.resolve(bytes, into: buffer)
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        } else {
            hasher.combine(bytes: bytes.buffer)
        }
    }

    /// One bit of 64, the same for names that are the same: most that differ have another one.
    ///
    /// All of them for a name with escapes, which may be the same as any.
    @inline(__always)
    var marks: UInt64 {
        guard !isEscaped else { return .max }
        let count = bytes.count
        let word: UInt64
        switch count {
        case 8...: word = bytes.word(at: 0) ^ (bytes.word(at: count &- 8) &* 31)
        case 4...: word = bytes.halfWord(at: 0) << 32 | bytes.halfWord(at: count &- 4)
        case 1...:
            word =
                UInt64(bytes[0]) << 16 | UInt64(bytes[count / 2]) << 8 | UInt64(bytes[count &- 1])
        default: word = 0
        }
        let hash = (word &+ UInt64(truncatingIfNeeded: count)) &* 0x9E37_79B9_7F4A_7C15
        return 1 << (hash >> 58)
    }
}
