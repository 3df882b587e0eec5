import AtriumKit
import JSONCodec

/// The index of one contents component: what items there are, and which of them match a query, in
/// order, with totals and counts, in one call.
///
/// How it works. Each item has a row, a small number that is used again when the item goes. Each
/// declared field is a column: numbers as they are; texts as codes into a table of the distinct
/// ones, which knows the rows of each. A predicate is a set of rows, a bit each; sections and
/// search narrow the one set that a page, its total and its counts are read from. What had to be
/// scanned for (ranges, substrings) is kept, and catches up with the rows that changed since.
///
/// What it promises. Equality, counts and ranges see fields, `votes.score`, `votes.count`,
/// `comments.count` and `id`; a predicate on anything else matches nothing. Items without ballots
/// have a `votes.count` of 0 and no `votes.score`. Values of a type that is not the field's count
/// as none. Texts sort by folded form, then as they are; keywords by their first; times compare as
/// moments, in seconds since 1970; what is missing comes last in both directions.
///
/// It is not Sendable: it lives on the host's one serial domain.
final class ContentIndex {
    private(set) var table = RowTable()
    private(set) var columns: [String: IndexColumn] = [:]
    private(set) var searched: [TextColumn] = []
    /// The fields that can be sorted by besides those derived, as declared.
    let fields: [Field]
    var cache = LeafCache()
    /// Grows with each change that a query may see.
    private(set) var changeCount: UInt64 = 0

    private var declared: [(name: String, column: IndexColumn)] = []
    private var derived = DerivedValues()
    private var retiredVersions: UInt64 = 0

    /// An empty index.
    ///
    /// - Parameter fields: What the items have. Where none is declared `search: true`, a search
    ///   looks at all texts and keywords.
    init(fields: [Field]) {
        self.fields = fields
        makeColumns()
    }

    /// How many items there are.
    var count: Int { table.count }

    /// Every item's id, in any order.
    var ids: some Collection<String> { table.ids }

    /// Whether there is an item with this id.
    func contains(_ id: String) -> Bool { table.row(of: id) != nil }

    /// The sequence of the entry that last changed an item; nil when there is none with this id.
    func revision(of id: String) -> Int64? { table.row(of: id).map { table[$0].revision } }

    /// The item with this id.
    func item(_ id: String) -> IndexedItem? { table.row(of: id).map(item) }

    /// Inserts or replaces items, in order; `revision` is the sequence of the entry that did it.
    func put(_ items: [Item], revision: Int64) {
        for item in items { put(item, revision: revision) }
    }

    /// Inserts or replaces items, each with its own revision: for a restore.
    func put(_ items: [(item: Item, revision: Int64)]) {
        for (item, revision) in items { put(item, revision: revision) }
    }

    /// Removes items; ids that are not there are passed over.
    ///
    /// Their tallies and comment counts stay, for when they return.
    func remove(_ ids: [String]) {
        for id in ids {
            guard let row = table.remove(id) else { continue }
            for (_, column) in declared { column.set(nil, row: row) }
            derived.fill(row: row, for: nil)
            note(row)
        }
    }

    /// Removes all items; tallies and comment counts stay.
    func removeAll() {
        retiredVersions += columns.values.reduce(1) { $0 + $1.version }
        table = RowTable()
        derived = derived.withEmptyColumns()
        cache.removeAll()
        changeCount += 1
        makeColumns()
    }

    /// What the votes on an item add up to now, whether or not there is such an item.
    func setTally(_ tally: Tally, for id: String) {
        derived.setTally(tally, for: id)
        refill(id)
    }

    /// How many comments are about an item now, whether or not there is such an item.
    func setCommentCount(_ count: Int, for id: String) {
        derived.setCommentCount(count, for: id)
        refill(id)
    }

    /// Forgets all tallies: the component that kept them is gone.
    func removeTallies() {
        let ids = Array(derived.tallies.keys)
        for id in ids { setTally(Tally(), for: id) }
    }

    /// Forgets all comment counts: the component that kept them is gone.
    func removeCommentCounts() {
        let ids = Array(derived.commentCounts.keys)
        for id in ids { setCommentCount(0, for: id) }
    }

    /// The distinct values that a field has now, sorted: numbers ascending, texts by folded form.
    ///
    /// Booleans are told as such, times in canonical form. Empty for a field that is not there.
    func distinctValues(of field: String) -> [Value] {
        columns[field]?.distinctValues ?? []
    }

    /// A number that is another one when the distinct values of any of these fields have changed.
    func valuesVersion(of fields: some Sequence<String>) -> UInt64 {
        fields.reduce(retiredVersions) { $0 + (columns[$1]?.version ?? 0) }
    }

    /// The item in a row that holds one.
    func item(row: Int) -> IndexedItem {
        let stored = table[row]
        return IndexedItem(
            id: stored.id, fields: stored.fields, parent: stored.parent,
            tally: derived.tallies[stored.id] ?? Tally(),
            comments: derived.commentCounts[stored.id] ?? 0, revision: stored.revision)
    }

    private func put(_ item: Item, revision: Int64) {
        let (row, isUnchanged) = table.put(
            RowTable.Row(
                id: item.id, fields: item.fields.jsonBytes, parent: item.parent,
                revision: revision))
        changeCount += 1
        guard !isUnchanged else { return }
        for (name, column) in declared { column.set(item.fields[name], row: row) }
        derived.fill(row: row, for: item.id)
        note(row)
    }

    private func refill(_ id: String) {
        guard let row = table.row(of: id) else { return }
        derived.fill(row: row, for: id)
        note(row)
    }

    private func note(_ row: Int) {
        changeCount += 1
        cache.note(row: row, of: table.count)
    }

    private func makeColumns() {
        declared = fields.map { ($0.name, IndexColumn(type: $0.type)) }
        columns = derived.columns
        for (name, column) in declared { columns[name] = column }
        let texts = zip(fields, declared).compactMap { field, named in
            if case .text(let column) = named.column { (field.search, column) } else { nil }
        }
        let chosen = texts.filter(\.0)
        searched = (chosen.isEmpty ? texts : chosen).map(\.1)
    }
}
