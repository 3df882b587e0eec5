/// The names read so far in an object of any kind, in which no name may occur twice.
///
/// The first few are on the stack: most objects have no more, and need no allocation.
struct JSONScope {
    /// The ``JSONKey/marks`` of all names; a name whose marks are not among them is new, and no name has to be
    /// compared.
    private var marks: UInt64 = 0

    private var few = InlineArray<8, JSONKey>(repeating: .none)
    private var count = 0

    /// The names beyond the first few, for which there was no room.
    private var others = JSONKeySet()

    /// Adds a name; returns whether it is new.
    @inline(__always)
    mutating func insert(_ key: JSONKey) -> Bool {
        let marks = key.marks
        guard self.marks & marks == 0 || !isAmongFew(key) else { return false }
        self.marks |= marks
        guard count < few.count else { return others.insert(key) }
        few[count] = key
        count &+= 1
        return true
    }

    @inline(never)
    private func isAmongFew(_ key: JSONKey) -> Bool {
        for index in 0..<count where few[index] == key { return true }
        return false
    }
}
