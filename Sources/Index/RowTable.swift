import AtriumKit

/// The items by row: rows are numbered from 0, and a row that falls free is used again.
final class RowTable {
    /// The values of an item besides its columns.
    struct Row {
        var id: String
        var fields: [UInt8]
        var parent: String?
        var revision: Int64
    }

    /// The values of a row before an item was put in.
    struct Former {
        var parent: String?
        var isRoot: Bool
        var hasSameFields: Bool
    }

    /// The rows that hold an item.
    private(set) var occupied = Bitset()
    /// The rows of items without a parent, and of those whose parent does not exist.
    private(set) var roots = Bitset()
    /// A number that changes when an item is added, removed or moved to another parent.
    private(set) var treeVersion: UInt64 = 0
    /// The first eight bytes of each id, as a number that orders as the id does.
    private(set) var heads: ContiguousArray<UInt64> = []

    private var items = PackedItems()
    private var places: ContiguousArray<ItemPlace> = []
    private var revisions = Revisions()
    private var numbers = HashedSlots()
    /// The rows of those that name a parent, by it.
    private(set) var children = SplitDictionary<String, Postings>()
    private var free: ContiguousArray<Int32> = []

    /// The number of items.
    var count: Int { numbers.count }

    /// One more than the greatest row that was ever used.
    var end: Int { places.count }

    /// The item in a row; the row must hold one.
    subscript(row: Int) -> Row {
        let item = items[places[row]]
        return Row(
            id: item.id.text, fields: Array(item.fields), parent: item.parent?.text,
            revision: revisions[row])
    }

    func id(of row: Int) -> String { items[places[row]].id.text }

    /// Returns the parent of the item in a row, whether or not it exists; nil if the item names none.
    func parent(of row: Int) -> String? { items[places[row]].parent?.text }

    /// The sequence of the entry that last changed the item in a row.
    func revision(of row: Int) -> Int64 { revisions[row] }

    /// Returns the row of an item; nil: there is no such item.
    func row(of id: String) -> Int? {
        var id = id
        return id.withUTF8 { row(of: UnsafeRawBufferPointer($0), hash: HashedSlots.textHash($0)) }
    }

    /// The rows of an item's direct children.
    func children(of id: String) -> Bitset { children[id]?.bitset ?? Bitset() }

    /// Puts an item in, in its row or a new one; returns the row, and its values before, nil if it is new.
    func put(
        id: String, parent: String?, fields: UnsafeRawBufferPointer, revision: Int64
    ) -> (row: Int, former: Former?) {
        var (id, own) = (id, parent ?? "")
        return id.withUTF8 { text in
            own.withUTF8 { own in
                let id = UnsafeRawBufferPointer(text)
                let parentBytes = parent == nil ? nil : UnsafeRawBufferPointer(own)
                let hash = HashedSlots.textHash(text)
                guard let row = row(of: id, hash: hash) else {
                    let row = freeRow()
                    places[row] = items.append(
                        row: row, id: id, parent: parentBytes, fields: fields)
                    occupy(row, head: UInt64(head: id), hash: hash, revision: revision)
                    link(row, to: parent)
                    setChildren(of: row, areRoots: false)
                    return (row, nil)
                }
                let old = items[places[row]]
                let former = Former(
                    parent: old.parent?.text, isRoot: roots.contains(row),
                    hasSameFields: old.fields.isSame(as: fields))
                revisions[row] = revision
                guard !former.hasSameFields || former.parent != parent else {
                    return (row, former)
                }
                if former.parent != parent {
                    unlink(row, from: former.parent)
                    link(row, to: parent)
                }
                let place = places[row]
                places[row] = items.append(
                    row: row, id: id, parent: parentBytes, fields: fields)
                items.remove(place, places: &places)
                return (row, former)
            }
        }
    }

    /// Changes the revision of the item in a row.
    func setRevision(_ revision: Int64, row: Int) { revisions[row] = revision }

    /// Removes an item; returns the row that is free now, nil if there was no such item.
    func remove(_ id: String) -> Int? {
        guard let row = row(of: id) else { return nil }
        var id = self.id(of: row)
        numbers.remove(row, hash: id.withUTF8(HashedSlots.textHash))
        unlink(row, from: parent(of: row))
        setChildren(of: row, areRoots: true)
        occupied.remove(row)
        items.remove(places[row], places: &places)
        places[row] = .none
        revisions[row] = 0
        free.append(Int32(row))
        return row
    }

    /// Compares the ids of two rows, byte for byte: below 0 if the first one's comes first.
    func compareIDs(_ one: Int, _ other: Int) -> Int {
        if heads[one] != heads[other] { return heads[one] < heads[other] ? -1 : 1 }
        return items[places[one]].id.compare(items[places[other]].id)
    }

    /// Compares a row's id with one that may be of no row: below 0 if the row's comes first.
    func compareID(of row: Int, _ id: String) -> Int {
        var id = id
        return id.withUTF8 { items[places[row]].id.compare(UnsafeRawBufferPointer($0)) }
    }

    /// All rows with an item, in the order of their ids.
    func rowsByID() -> ContiguousArray<Int32> {
        var sorted: ContiguousArray<(head: UInt64, row: Int32)> = []
        sorted.reserveCapacity(count)
        // Ids often begin alike: what differs comes first to be compared.
        let shared = sharedPrefix
        occupied.visit { row in
            sorted.append((UInt64(head: items[places[row]].id.dropFirst(shared)), Int32(row)))
        }
        sorted.sort { one, other in
            one.head != other.head
                ? one.head < other.head : compareIDs(Int(one.row), Int(other.row)) < 0
        }
        return ContiguousArray(sorted.lazy.map(\.row))
    }

    /// The number of bytes that all ids have in common at their start.
    private var sharedPrefix: Int {
        var first: UnsafeRawBufferPointer?
        var length = 0
        occupied.visit { row in
            let id = items[places[row]].id
            guard let known = first else {
                first = id
                length = id.count
                return
            }
            if length > 0 {
                length = zip(known.prefix(length), id).prefix { $0 == $1 }.count
            }
        }
        return length
    }

    private func row(of id: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
        numbers.find(hash) { row in
            let known = items[places[row]].id
            // Texts may be equal and say their accents otherwise.
            return known.isSame(as: id) || known.text == id.text
        }
    }

    private func freeRow() -> Int {
        if let freed = free.popLast() { return Int(freed) }
        places.append(ItemPlace.none)
        revisions.append(0)
        heads.append(0)
        return places.count - 1
    }

    private func occupy(_ row: Int, head: UInt64, hash: UInt32, revision: Int64) {
        heads[row] = head
        revisions[row] = revision
        numbers.insert(row, hash: hash)
        occupied.insert(row)
    }

    private func link(_ row: Int, to parent: String?) {
        treeVersion += 1
        guard let parent else { return roots.insert(row) }
        children.change(parent, default: Postings()) { $0.insert(row) }
        if self.row(of: parent) == nil { roots.insert(row) }
    }

    private func unlink(_ row: Int, from parent: String?) {
        treeVersion += 1
        roots.remove(row)
        guard let parent else { return }
        guard children[parent] != nil else { return }
        let isEmpty = children.change(parent, default: Postings()) { rows in
            rows.remove(row)
            return rows.count == 0
        }
        if isEmpty { children[parent] = nil }
    }
}

// MARK: Children without a parent

extension RowTable {
    /// An item came, or goes: its children are no roots any more, or are.
    private func setChildren(of row: Int, areRoots: Bool) {
        guard !children.isEmpty, let rows = children[id(of: row)]?.bitset else { return }
        if areRoots { roots.formUnion(rows) } else { roots.subtract(rows) }
    }
}

// MARK: Many at once

extension RowTable {
    /// Reserves room for this many items.
    func reserve(_ count: Int) {
        places.reserveCapacity(count)
        revisions.reserveCapacity(count)
        heads.reserveCapacity(count)
        numbers.reserve(count)
        occupied.reserve(count)
        roots.reserve(count)
    }

    /// Adds items in new rows, in their order; the table must have none of them.
    func append(_ batch: RecordBatch) {
        for item in batch.items {
            let row = places.count
            places.append(item.place)
            revisions.append(item.revision)
            heads.append(item.head)
            numbers.insert(row, hash: item.hash)
            occupied.insert(row)
            if !item.hasParent { roots.insert(row) }
        }
    }

    /// Takes over the memory that the items of all batches are in.
    func adopt(_ packed: PackedItems) {
        items = packed
        treeVersion += 1
        guard roots.count < count else { return }
        for row in places.indices {
            if let parent = parent(of: row) { link(row, to: parent) }
        }
    }
}

/// A sequence for each row, in 32 bits while all are below 2^32.
private struct Revisions {
    private var low: ContiguousArray<UInt32> = []
    /// The bits above; empty while there are none.
    private var high: ContiguousArray<UInt32> = []

    subscript(row: Int) -> Int64 {
        get {
            let high = high.isEmpty ? 0 : Int64(high[row])
            return high << 32 | Int64(low[row])
        }
        set {
            low[row] = UInt32(truncatingIfNeeded: newValue)
            let above = UInt32(truncatingIfNeeded: newValue >> 32)
            if above != 0, high.isEmpty {
                high = ContiguousArray(repeating: 0, count: low.count)
            }
            if !high.isEmpty { high[row] = above }
        }
    }

    mutating func append(_ revision: Int64) {
        low.append(0)
        if !high.isEmpty { high.append(0) }
        self[low.count - 1] = revision
    }

    mutating func reserveCapacity(_ rows: Int) { low.reserveCapacity(rows) }
}
