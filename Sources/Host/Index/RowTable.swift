/// Which item is in which row: rows are numbered from 0, and a row that falls free is used again.
struct RowTable {
    /// What is kept of an item besides its columns.
    struct Row {
        var id: String
        var fields: [UInt8]
        var parent: String?
        var revision: Int64
    }

    /// The rows that hold an item.
    private(set) var occupied = Bitset()
    /// The rows of items without a parent.
    private(set) var roots = Bitset()
    /// The first eight bytes of each id, as a number that orders as the id does.
    private(set) var heads: ContiguousArray<UInt64> = []

    private var rows: ContiguousArray<Row> = []
    private var numbers: [String: Int32] = [:]
    private var children: [String: Postings] = [:]
    private var free: ContiguousArray<Int32> = []

    /// How many items there are.
    var count: Int { numbers.count }

    /// One more than the greatest row that was ever used.
    var end: Int { rows.count }

    /// Every item's id, in any order.
    var ids: some Collection<String> { numbers.keys }

    /// What is in a row that holds an item.
    subscript(row: Int) -> Row { rows[row] }

    /// In which row an item is.
    func row(of id: String) -> Int? { numbers[id].map(Int.init) }

    /// The rows of an item's direct children.
    func children(of id: String) -> Bitset { children[id]?.bitset ?? Bitset() }

    /// Puts an item in, in its row or a new one.
    ///
    /// - Returns: The row, and whether it is the same as it was, but for its revision.
    mutating func put(_ new: Row) -> (row: Int, isUnchanged: Bool) {
        guard let row = row(of: new.id) else { return (add(new), false) }
        let old = rows[row]
        let isMoved = old.parent != new.parent
        if isMoved {
            unlink(row)
            link(row, to: new.parent)
        }
        rows[row] = new
        return (row, !isMoved && old.fields == new.fields)
    }

    /// Takes an item out.
    ///
    /// - Returns: The row that is free now; nil when there was no such item.
    mutating func remove(_ id: String) -> Int? {
        guard let row = numbers.removeValue(forKey: id).map(Int.init) else { return nil }
        unlink(row)
        occupied.remove(row)
        rows[row] = Row(id: "", fields: [], parent: nil, revision: 0)
        free.append(Int32(row))
        return row
    }

    /// Below 0 when one row's id comes before the other's.
    func compareIDs(_ one: Int, _ other: Int) -> Int {
        if heads[one] != heads[other] { return heads[one] < heads[other] ? -1 : 1 }
        return rows[one].id.compare(rows[other].id)
    }

    private mutating func add(_ new: Row) -> Int {
        let row: Int
        if let freed = free.popLast() {
            row = Int(freed)
            rows[row] = new
            heads[row] = UInt64(head: new.id.utf8)
        } else {
            row = rows.count
            rows.append(new)
            heads.append(UInt64(head: new.id.utf8))
        }
        numbers[new.id] = Int32(row)
        occupied.insert(row)
        link(row, to: new.parent)
        return row
    }

    private mutating func link(_ row: Int, to parent: String?) {
        guard let parent else { return roots.insert(row) }
        children[parent, default: Postings()].insert(row)
    }

    private mutating func unlink(_ row: Int) {
        guard let parent = rows[row].parent else { return roots.remove(row) }
        children[parent]?.remove(row)
        if children[parent]?.count == 0 { children[parent] = nil }
    }
}
