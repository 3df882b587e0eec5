/// The name of a member as it stands in the text.
///
/// It points into the reader's text and is valid as long as that is. Compare it with literals, in
/// `==` or in a `switch`: that allocates nothing.
public struct JSONKey {
    /// The bytes between the quotes, escapes and all.
    let bytes: UnsafeRawBufferPointer

    /// Whether ``bytes`` holds escapes.
    let isEscaped: Bool

    /// Where the opening quote stands in the text.
    let offset: Int

    /// The name, without escapes.
    public var string: String {
        guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: JSONEscapes.resolve(bytes), as: UTF8.self)
    }

    /// Whether the name is this one, byte for byte.
    ///
    /// - Parameters:
    ///   - key: The name in the text.
    ///   - name: A literal.
    /// - Returns: Whether they are the same.
    public static func == (key: JSONKey, name: StaticString) -> Bool {
        guard name.hasPointerRepresentation else { return key.string == name.description }
        let other = UnsafeRawBufferPointer(
            start: name.utf8Start, count: name.utf8CodeUnitCount)
        guard !key.isEscaped else { return JSONEscapes.resolve(key.bytes).elementsEqual(other) }
        return JSONKey.areEqual(key.bytes, other)
    }

    /// Whether the name is this one, byte for byte: what makes literals work as cases of a `switch`.
    ///
    /// - Parameters:
    ///   - name: A literal.
    ///   - key: The name in the text.
    /// - Returns: Whether they are the same.
    public static func ~= (name: StaticString, key: JSONKey) -> Bool {
        key == name
    }

    /// The name that begins at `start`, just behind its quote, and ends before `end` at the latest.
    static func scan(in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> JSONKey {
        var position = start
        var isEscaped = false
        while position < end, bytes[position] != UInt8(ascii: "\"") {
            if bytes[position] == UInt8(ascii: "\\") {
                isEscaped = true
                position += 1
            }
            position += 1
        }
        let name = UnsafeRawBufferPointer(rebasing: bytes[start..<min(position, end)])
        return JSONKey(bytes: name, isEscaped: isEscaped, offset: start - 1)
    }

    private static func areEqual(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> Bool {
        let count = left.count
        guard count == right.count else { return false }
        var position = 0
        while position + 8 <= count {
            let words = (
                left.loadUnaligned(fromByteOffset: position, as: UInt64.self),
                right.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            )
            guard words.0 == words.1 else { return false }
            position += 8
        }
        while position < count {
            guard left[position] == right[position] else { return false }
            position += 1
        }
        return true
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
        guard left.isEscaped || right.isEscaped else { return areEqual(left.bytes, right.bytes) }
        return JSONEscapes.resolve(left.bytes) == JSONEscapes.resolve(right.bytes)
    }

    /// Feeds the name without its escapes.
    ///
    /// - Parameter hasher: Where to.
    public func hash(into hasher: inout Hasher) {
        if isEscaped {
            JSONEscapes.resolve(bytes).withUnsafeBytes { hasher.combine(bytes: $0) }
        } else {
            hasher.combine(bytes: bytes)
        }
    }
}

/// The names met so far in one object, to find those that stand twice.
public struct JSONKeySet {
    private var few: [JSONKey] = []
    private var many: Set<JSONKey> = []

    /// Makes an empty set; allocates nothing.
    public init() {}

    /// Adds a name.
    ///
    /// - Parameter key: The name; its text must outlive the set.
    /// - Returns: Whether it is new.
    public mutating func insert(_ key: JSONKey) -> Bool {
        // Looking through a few names is faster than hashing; many would make it quadratic.
        if many.isEmpty {
            guard !few.contains(key) else { return false }
            few.append(key)
            if few.count > 16 { many = Set(few) }
            return true
        }
        return many.insert(key).inserted
    }
}
