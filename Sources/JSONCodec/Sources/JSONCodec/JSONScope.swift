/// The names met so far in an object of any kind, in which none may stand twice.
///
/// The first few lie on the stack: most objects have no more, and are read without an allocation for it.
struct JSONScope {
    /// The ``JSONKey/marks`` of all names: while a new one's are none of them, no name is looked at.
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
