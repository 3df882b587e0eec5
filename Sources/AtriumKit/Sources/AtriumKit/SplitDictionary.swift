/// A dictionary of which no growth takes long, however many entries it has.
///
/// A `Dictionary` that is full moves all its entries to a bigger one, in the midst of the call that adds another: with a
/// million that is a tenth of a second, in which nobody is served. This one is in many parts once it has a few thousand
/// entries; each grows by itself. With fewer it is a `Dictionary`, and costs the same.
///
/// The order of entries is any, as in a `Dictionary`; a copy shares its memory until one of both changes, and then
/// a part of it is copied at a time.
@frozen
public struct SplitDictionary<Key: Hashable, Value> {
    /// Up to how many entries it is one part.
    @inlinable static var whole: Int { 8_192 }
    @inlinable static var bits: Int { 10 }

    /// All entries, while they are few.
    @usableFromInline var few: [Key: Value] = [:]
    /// Once they are not; empty before.
    @usableFromInline var parts: [[Key: Value]] = []
    /// How many entries there are.
    @inlinable
    public var count: Int { size }
    @usableFromInline var size = 0

    /// Without entries.
    @inlinable
    public init() {}

    /// Whether there is no entry.
    @inlinable
    public var isEmpty: Bool { size == 0 }

    /// The value of a key; nil: it has none, or is to have none.
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

    /// Changes the value of a key in place; one without any begins with the default.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - value: what it begins with.
    ///   - body: changes the value.
    /// - Returns: what the body does.
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

    /// Gives a key a value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the key.
    /// - Returns: the value that it had; nil: it had none.
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

    /// Takes a key out.
    ///
    /// - Returns: the value that it had; nil: it had none.
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

    @usableFromInline
    mutating func split() {
        parts = Array(repeating: [:], count: 1 << Self.bits)
        for (key, value) in few { parts[part(of: key)][key] = value }
        few = [:]
    }

    /// By other bits of its hash than those by which it has its place in the part.
    @inlinable
    func part(of key: Key) -> Int {
        Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) >> (UInt.bitWidth - Self.bits))
    }
}

extension SplitDictionary: Sequence {
    /// Goes through all entries.
    @frozen
    public struct Iterator: IteratorProtocol {
        @usableFromInline var part: [Key: Value].Iterator
        @usableFromInline var rest: ArraySlice<[Key: Value]>

        @inlinable
        init(_ dictionary: SplitDictionary) {
            part = dictionary.few.makeIterator()
            rest = dictionary.parts[...]
        }

        /// The next entry; nil: there is none.
        @inlinable
        public mutating func next() -> (key: Key, value: Value)? {
            while true {
                if let entry = part.next() { return entry }
                guard let next = rest.popFirst() else { return nil }
                part = next.makeIterator()
            }
        }
    }

    /// All entries, in any order.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }

    /// How many entries there are.
    @inlinable
    public var underestimatedCount: Int { count }
}

extension SplitDictionary: Sendable where Key: Sendable, Value: Sendable {}
