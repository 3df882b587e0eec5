/// A dictionary whose growth copies at most one of its parts.
///
/// A full `Dictionary` moves all its entries to a bigger one in the call that adds another: with a million entries that
/// takes a tenth of a second, in which no call is served. This one is split into many parts once it has a few thousand
/// entries; each part grows by itself. With fewer it is a single `Dictionary`, and costs the same.
///
/// The order of entries is undefined, as in a `Dictionary`. A copy shares its memory until one of both changes, and
/// then one part is copied at a time.
@frozen
public struct SplitDictionary<Key: Hashable, Value> {
    /// The maximum number of entries in a single part.
    @inlinable static var whole: Int { 8_192 }
    @inlinable static var bits: Int { 10 }

    /// All entries, while there are at most `whole`.
    @usableFromInline var few: [Key: Value] = [:]
    /// The parts, once there are more; empty before.
    @usableFromInline var parts: [[Key: Value]] = []
    /// The number of entries.
    @inlinable
    public var count: Int { size }
    @usableFromInline var size = 0

    /// Creates an empty dictionary.
    @inlinable
    public init() {}

    /// Whether there are no entries.
    @inlinable
    public var isEmpty: Bool { size == 0 }

    /// The value of a key; nil if it has none.
    ///
    /// Assigning nil removes the entry.
    @inlinable
    public subscript(key: Key) -> Value? {
        get { parts.isEmpty ? few[key] : parts[part(of: key)][key] }
        set {
            guard let newValue else {
                removeValue(forKey: key)
                return
            }
            if parts.isEmpty {
                few[key] = newValue
                grow(to: few.count)
            } else {
                let part = part(of: key)
                let before = parts[part].count
                parts[part][key] = newValue
                size += parts[part].count - before
            }
        }
    }

    /// Changes the value of a key in place, starting with a default if there is none.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - value: the default.
    ///   - body: changes the value.
    /// - Returns: the result of the body.
    @inlinable
    public mutating func change<Result>(
        _ key: Key, default value: @autoclosure () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        guard !parts.isEmpty else {
            let result = body(&few[key, default: value()])
            grow(to: few.count)
            return result
        }
        let part = part(of: key)
        let before = parts[part].count
        let result = body(&parts[part][key, default: value()])
        size += parts[part].count - before
        return result
    }

    /// Sets the value of a key.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the key.
    /// - Returns: the previous value; nil if there was none.
    @inlinable
    @discardableResult
    public mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        guard !parts.isEmpty else {
            let previous = few.updateValue(value, forKey: key)
            grow(to: few.count)
            return previous
        }
        let previous = parts[part(of: key)].updateValue(value, forKey: key)
        if previous == nil { size += 1 }
        return previous
    }

    /// Removes a key and its value.
    ///
    /// - Returns: the removed value; nil if there was none.
    @inlinable
    @discardableResult
    public mutating func removeValue(forKey key: Key) -> Value? {
        let removed =
            parts.isEmpty
            ? few.removeValue(forKey: key)
            : parts[part(of: key)].removeValue(forKey: key)
        if removed != nil { size -= 1 }
        return removed
    }

    /// All keys.
    @inlinable
    public var keys: some Sequence<Key> { lazy.map(\.key) }

    @inlinable
    mutating func grow(to count: Int) {
        size = count
        if count > Self.whole { split() }
    }

    @inlinable
    mutating func split() {
        parts = Array(repeating: [:], count: 1 << Self.bits)
        for (key, value) in few { parts[part(of: key)][key] = value }
        few = [:]
    }

    /// Chosen by other bits of the hash than those that place the key within the part.
    @inlinable
    func part(of key: Key) -> Int {
        Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) >> (UInt.bitWidth - Self.bits))
    }
}

extension SplitDictionary: Sequence {
    /// Iterates over all entries.
    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline var part: [Key: Value].Iterator
        @usableFromInline var rest: ArraySlice<[Key: Value]>

        @inlinable
        init(_ dictionary: SplitDictionary) {
            part = dictionary.few.makeIterator()
            rest = dictionary.parts[...]
        }

        /// Returns the next entry; nil after the last.
        @inlinable
        public mutating func next() -> (key: Key, value: Value)? {
            while true {
                if let entry = part.next() { return entry }
                guard let next = rest.popFirst() else { return nil }
                part = next.makeIterator()
            }
        }
    }

    /// Returns an iterator over all entries, in any order.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }

    /// The number of entries.
    @inlinable
    public var underestimatedCount: Int { count }
}

extension SplitDictionary: Sendable where Key: Sendable, Value: Sendable {}
