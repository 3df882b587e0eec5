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
    /// The numbers of the columns that a search looks at.
    private(set) var searchedColumns: [Int] = []
    /// The fields that can be sorted by besides those derived, as declared.
    let fields: [Field]
    var cache = LeafCache()
    /// What changed, for those who keep a query answered.
    var log = ChangeLog()
    /// The orders that queries have asked for often enough.
    var orders = SortedOrders()

    /// The columns by number: those of the declared fields, then those derived.
    private(set) var numbered: [IndexColumn] = []
    /// The fields' names, sorted, and their columns' numbers.
    private var names: [(name: String, column: Int)] = []
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

    /// Every item's id, in any order; made anew at each call.
    var ids: [String] { table.ids }

    /// Whether there is an item with this id.
    func contains(_ id: String) -> Bool { table.row(of: id) != nil }

    /// The sequence of the entry that last changed an item; nil when there is none with this id.
    func revision(of id: String) -> Int64? { table.row(of: id).map { table[$0].revision } }

    /// The item with this id.
    func item(_ id: String) -> IndexedItem? { table.row(of: id).map(item) }

    /// Inserts or replaces items, in order; `revision` is the sequence of the entry that did it.
    func put(_ items: [Item], revision: Int64) {
        for item in items { put(item, revision: revision) }
        releaseTexts()
    }

    /// Inserts or replaces items, each with its own revision: for a restore.
    func put(_ items: [(item: Item, revision: Int64)]) {
        for (item, revision) in items { put(item, revision: revision) }
        releaseTexts()
    }

    /// Removes items; ids that are not there are passed over.
    ///
    /// Their tallies and comment counts stay, for when they return.
    func remove(_ ids: [String]) {
        for id in ids { remove(id) }
        releaseTexts()
    }

    /// Removes all items; tallies and comment counts stay.
    func removeAll() {
        retiredVersions += columns.values.reduce(1) { $0 + $1.version }
        table = RowTable()
        cache.removeAll()
        orders.removeAll()
        log.dropAll()
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

    /// Writes down from now on what changes, for one more that keeps a query answered.
    func startLogging() { log.readers += 1 }

    /// One of those is gone.
    func stopLogging() {
        log.readers -= 1
        guard !log.isActive else { return }
        log.dropAll()
        releaseTexts()
    }

    /// The number of a field's column; nil for `id`, and for a field that is not there.
    func column(_ field: String) -> Int? {
        names.first { $0.name == field }?.column
    }

    private func makeColumns() {
        let declared = fields.map { IndexColumn(type: $0.type) }
        numbered = declared + DerivedValues.columns()
        names = (fields.map(\.name) + DerivedValues.names).enumerated()
            .map { ($0.element, $0.offset) }
            .sorted { $0.name < $1.name }
        columns = [:]
        for (name, column) in names { columns[name] = numbered[column] }
        let texts = fields.indices.filter { if case .text = numbered[$0] { true } else { false } }
        let chosen = texts.filter { fields[$0].search }
        searchedColumns = chosen.isEmpty ? texts : chosen
        searched = searchedColumns.compactMap {
            if case .text(let column) = numbered[$0] { column } else { nil }
        }
    }
}

// MARK: One row's change

extension ContentIndex {
    private func put(_ item: Item, revision: Int64) {
        let (row, old) = table.put(
            RowTable.Row(
                id: item.id, fields: bytes(of: item.fields), parent: item.parent,
                revision: revision))
        var change = RowChange(row: row, id: old?.id, parent: old?.parent)
        defer { note(change) }
        if old == nil { change.note([.presence, .parent]) }
        if let old, old.parent != item.parent { change.note(.parent) }
        if old?.fields != table[row].fields {
            for (name, column) in names where column < fields.count {
                set(item.fields[name], in: column, row: row, noting: &change)
            }
        }
        guard old == nil else { return }
        fillDerived(row, for: item.id, noting: &change)
        orders.insert(row)
    }

    private func remove(_ id: String) {
        guard let row = table.row(of: id) else { return }
        orders.remove(row)
        var change = RowChange(
            row: row, id: id, parent: table[row].parent, parts: [.presence, .parent])
        _ = table.remove(id)
        for column in fields.indices { set(nil, in: column, row: row, noting: &change) }
        for column in numbered.indices.dropFirst(fields.count) {
            set(number: nil, in: column, row: row, noting: &change)
        }
        note(change)
    }

    private func refill(_ id: String) {
        guard let row = table.row(of: id) else { return }
        var change = RowChange(row: row, id: id, parent: table[row].parent)
        fillDerived(row, for: id, noting: &change)
        note(change)
    }

    private func fillDerived(_ row: Int, for id: String, noting change: inout RowChange) {
        for (place, number) in derived.values(of: id).enumerated() {
            set(number: number, in: fields.count + place, row: row, noting: &change)
        }
    }

    private func set(
        _ value: Value?, in column: Int, row: Int, noting change: inout RowChange
    ) {
        let isFollowed = isFollowed(change)
        if isFollowed {
            guard !numbered[column].holds(value, row: row) else { return }
            prepare(column, row: row, noting: &change)
        }
        numbered[column].set(value, row: row)
        if isFollowed, !change.parts.contains(.presence) { orders[column]?.insert(row) }
    }

    private func set(
        number: Double?, in column: Int, row: Int, noting change: inout RowChange
    ) {
        guard case .number(let numbers) = numbered[column] else { return }
        let isFollowed = isFollowed(change)
        if isFollowed {
            guard !NumberColumn.isSame(numbers.number(of: row), number) else { return }
            prepare(column, row: row, noting: &change)
        }
        numbers.set(number, row: row)
        if isFollowed, !change.parts.contains(.presence) { orders[column]?.insert(row) }
    }

    /// Whether anybody wants to know what a row held before: not of one that comes or goes, but for
    /// live queries.
    private func isFollowed(_ change: RowChange) -> Bool {
        log.isActive || !orders.isEmpty && !change.parts.contains(.presence)
    }

    private func prepare(_ column: Int, row: Int, noting change: inout RowChange) {
        if log.isActive { change.note(column: column, before: numbered[column].value(of: row)) }
        if !change.parts.contains(.presence) { orders[column]?.remove(row) }
    }

    private func note(_ change: RowChange) {
        cache.note(row: Int(change.row), of: table.count)
        if log.append(change) {
            for column in numbered { column.age() }
        }
    }

    /// Forgets texts that no row has any more; a live query may still ask for them.
    private func releaseTexts() {
        guard !log.isActive else { return }
        for column in numbered { column.release() }
    }

    /// The fields as JSON, sorted by name, as `[String: Value].jsonBytes` has them.
    private func bytes(of fields: [String: Value]) -> [UInt8] { fields.jsonBytes }
}
