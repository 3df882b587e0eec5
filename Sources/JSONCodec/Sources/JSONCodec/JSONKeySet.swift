/// The names read so far in one object, to find duplicates.
public struct JSONKeySet {
    /// The ``JSONKey/marks`` of all names; a name whose marks are not among them is new, and no name has to be
    /// compared.
    private var marks: UInt64 = 0

    // Nil until they are needed: most objects hold declared members alone, and pay nothing for these.
    private var few: [JSONKey]?
    private var many: JSONKeyTable?

    /// Makes an empty set; allocates nothing.
    public init() {}

    /// Adds a name.
    ///
    /// - Parameter key: The name; its text must outlive the set.
    /// - Returns: Whether it is new.
    public mutating func insert(_ key: JSONKey) -> Bool {
        // Looking through a few names is faster than hashing; many would make it quadratic.
        if many != nil { return many?.insert(key) ?? false }
        let marks = key.marks
        if self.marks & marks != 0, few?.contains(key) ?? false { return false }
        self.marks |= marks
        few = (few ?? []) + [key]
        if let few, few.count > 16 { many = JSONKeyTable(few) }
        return true
    }
}

/// The names of an object with many members, by hash.
///
/// A `Set` would hash all of its names again each time it grows, and keep them apart: for a million names it takes three
/// times longer.
struct JSONKeyTable {
    private var entries: [(key: JSONKey, hash: Int)] = []

    /// For each place, by hash with linear probing, the number of its entry from 1 on; 0: none.
    ///
    /// A power of two in size, and at most half full.
    private var places: [UInt32]

    /// A table of some names, which differ.
    init(_ keys: [JSONKey]) {
        places = [UInt32](repeating: 0, count: 64)
        for key in keys { _ = insert(key) }
    }

    /// Adds a name; returns whether it is new.
    mutating func insert(_ key: JSONKey) -> Bool {
        // With the seed of the process: a peer can't choose names whose hashes collide.
        let hash = key.hashValue
        if (entries.count + 1) * 2 > places.count { grow() }
        let mask = places.count - 1
        var place = hash & mask
        while places[place] != 0 {
            let entry = entries[Int(places[place]) - 1]
            if entry.hash == hash, entry.key == key { return false }
            place = (place + 1) & mask
        }
        entries.append((key, hash))
        places[place] = UInt32(entries.count)
        return true
    }

    private mutating func grow() {
        var larger = [UInt32](repeating: 0, count: places.count * 4)
        let mask = larger.count - 1
        for (index, entry) in entries.enumerated() {
            var place = entry.hash & mask
            while larger[place] != 0 { place = (place + 1) & mask }
            larger[place] = UInt32(index + 1)
        }
        places = larger
    }
}
