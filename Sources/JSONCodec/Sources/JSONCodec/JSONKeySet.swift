/// The names read so far in one object, to find duplicates.
public struct JSONKeySet {
    /// The ``JSONKey/marks`` of all names; a name whose marks are not among them is new, and no name has to be
    /// compared.
    private var marks: UInt64 = 0

    // Nil until they are needed: most objects hold declared members alone, and pay nothing for these.
    private var few: [JSONKey]?
    private var many: Set<JSONKey>?

    /// Makes an empty set; allocates nothing.
    public init() {}

    /// Adds a name.
    ///
    /// - Parameter key: The name; its text must outlive the set.
    /// - Returns: Whether it is new.
    public mutating func insert(_ key: JSONKey) -> Bool {
        // Looking through a few names is faster than hashing; many would make it quadratic.
        if many != nil { return many?.insert(key).inserted ?? false }
        let marks = key.marks
        if self.marks & marks != 0, few?.contains(key) ?? false { return false }
        self.marks |= marks
        few = (few ?? []) + [key]
        if let few, few.count > 16 { many = Set(few) }
        return true
    }
}
