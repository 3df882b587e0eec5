/// The rows that were found for a predicate or search, kept for the next query.
///
/// A change only adds its row to a list. When a set is used again, it catches up with the rows added since; once they
/// are many, a new search is cheaper.
struct LeafCache {
    /// The predicate or search that a set was found for.
    enum Leaf: Hashable {
        /// A field's number is in a range.
        case range(field: String, NumberRange)
        /// A field's text contains this folded one.
        case contains(field: String, needle: [UInt8])
        /// Any searched field's text contains this folded one.
        case search(needle: [UInt8])
    }

    private struct Entry {
        var rows: Bitset
        var position: Int
        var lastUse: Int
    }

    private static let capacity = 256
    /// A set that missed more changes is found anew.
    private static let mostMissed = 8_192

    private var entries: [Leaf: Entry] = [:]
    private var changed: ContiguousArray<UInt32> = []
    private var uses = 0
    /// The room beside ``capacity``, for the filters that sections offer.
    private var offered = 0

    /// Makes room for this many sets, which one query needs again and again.
    mutating func makeRoom(for count: Int) { offered = max(offered, count) }

    /// Records that a row's values have changed.
    mutating func markChanged(row: Int, of count: Int) {
        guard !entries.isEmpty else { return }
        changed.append(UInt32(row))
        if changed.count > max(4_096, count / 4) { (entries, changed) = ([:], []) }
    }

    /// The rows for a leaf; bits of rows that hold no item mean nothing.
    ///
    /// `find` finds all of them, `isMember` judges one, for catching up.
    mutating func rows(
        for leaf: Leaf, isMember: (Int) -> Bool, find: () -> Bitset
    ) -> Bitset {
        if let rows = known(leaf, isMember: isMember) { return rows }
        let rows = find()
        store(rows, for: leaf)
        return rows
    }

    /// Does the same as ``rows(for:isMember:find:)`` for rows that are kept; nil if they have to be found.
    mutating func known(_ leaf: Leaf, isMember: (Int) -> Bool) -> Bitset? {
        guard var entry = entries.removeValue(forKey: leaf),
            changed.count - entry.position <= LeafCache.mostMissed
        else { return nil }
        for row in changed[entry.position...] {
            entry.rows.set(Int(row), to: isMember(Int(row)))
        }
        uses += 1
        entry.position = changed.count
        entry.lastUse = uses
        entries[leaf] = entry
        return entry.rows
    }

    /// Stores the rows that were found for a leaf, as of now.
    mutating func store(_ rows: Bitset, for leaf: Leaf) {
        if entries.count >= LeafCache.capacity + offered { evict() }
        uses += 1
        entries[leaf] = Entry(rows: rows, position: changed.count, lastUse: uses)
    }

    private mutating func evict() {
        guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
    }
}
