/// Which item is in which row: rows are numbered from 0, and a row that falls free is used again.
final class RowTable {
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
    private var numbers = HashedSlots()
    private var children: [String: Postings] = [:]
    private var free: ContiguousArray<Int32> = []

    /// How many items there are.
    var count: Int { numbers.count }

    /// One more than the greatest row that was ever used.
    var end: Int { rows.count }

    /// Every item's id, in the order of the rows.
    var ids: [String] {
        var ids: [String] = []
        ids.reserveCapacity(count)
        occupied.visit { ids.append(rows[$0].id) }
        return ids
    }

    /// What is in a row that holds an item.
    subscript(row: Int) -> Row { rows[row] }

    /// In which row an item is.
    func row(of id: String) -> Int? {
        var id = id
        return row(of: id, hash: id.slotHash)
    }

    /// The rows of an item's direct children.
    func children(of id: String) -> Bitset { children[id]?.bitset ?? Bitset() }

    /// Puts an item in, in its row or a new one.
    ///
    /// - Returns: The row, and what was in it before; nil when it is a new one.
    func put(_ new: Row) -> (row: Int, old: Row?) {
        var id = new.id
        let hash = id.slotHash
        guard let row = row(of: id, hash: hash) else { return (add(new, hash: hash), nil) }
        let old = rows[row]
        if old.parent != new.parent {
            unlink(row)
            link(row, to: new.parent)
        }
        rows[row] = new
        return (row, old)
    }

    /// Changes the revision of the item in a row.
    func setRevision(_ revision: Int64, row: Int) { rows[row].revision = revision }

    /// Takes an item out.
    ///
    /// - Returns: The row that is free now; nil when there was no such item.
    func remove(_ id: String) -> Int? {
        var id = id
        let hash = id.slotHash
        guard let row = row(of: id, hash: hash) else { return nil }
        numbers.remove(row, hash: hash)
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

    /// All rows with an item, in the order of their ids.
    func rowsByID() -> ContiguousArray<Int32> {
        var sorted: ContiguousArray<(head: UInt64, row: Int32)> = []
        sorted.reserveCapacity(count)
        // Ids often begin alike: what differs comes first to be compared.
        let shared = sharedPrefix
        occupied.visit { row in
            sorted.append((UInt64(head: rows[row].id.utf8.dropFirst(shared)), Int32(row)))
        }
        sorted.sort { one, other in
            one.head != other.head
                ? one.head < other.head : compareIDs(Int(one.row), Int(other.row)) < 0
        }
        return ContiguousArray(sorted.lazy.map(\.row))
    }

    /// How many bytes all ids have in common at their start.
    private var sharedPrefix: Int {
        var first: [UInt8]?
        var length = 0
        occupied.visit { row in
            guard let known = first else {
                first = Array(rows[row].id.utf8)
                length = first?.count ?? 0
                return
            }
            if length > 0 {
                length = zip(known.prefix(length), rows[row].id.utf8).prefix { $0 == $1 }.count
            }
        }
        return length
    }

    private func row(of id: String, hash: UInt32) -> Int? {
        numbers.find(hash) { rows[$0].id == id }
    }

    private func add(_ new: Row, hash: UInt32) -> Int {
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
        numbers.insert(row, hash: hash)
        occupied.insert(row)
        link(row, to: new.parent)
        return row
    }

    private func link(_ row: Int, to parent: String?) {
        guard let parent else { return roots.insert(row) }
        children[parent, default: Postings()].insert(row)
    }

    private func unlink(_ row: Int) {
        guard let parent = rows[row].parent else { return roots.remove(row) }
        children[parent]?.remove(row)
        if children[parent]?.count == 0 { children[parent] = nil }
    }
}
