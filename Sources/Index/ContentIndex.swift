package import AtriumKit

/// The index of one contents component: its items, and a query for those that match, in order, with totals and counts,
/// in one call.
///
/// How it works. Each item has a row, a small number that is used again when the item is removed. Each declared field
/// is a column: numbers as they are; texts as codes into a table of the distinct ones, which has the rows of each. A
/// predicate is a set of rows, a bit each; sections and search narrow the one set from which a page, its total and its
/// counts are read. The results of scans (ranges, substrings) are kept, and catch up with the rows that changed since.
///
/// What it promises. Equality, counts and ranges see fields, `votes.score`, `votes.count`, `comments.count` and `id`; a
/// predicate on anything else matches nothing. Items without ballots have a `votes.count` of 0 and no `votes.score`.
/// Values that are not of the field's type count as missing. Texts sort by folded form, then as they are; keywords by
/// their first; times compare as moments, in seconds since 1970; missing values come last in both directions.
///
/// It is not Sendable: it is used on the host's one serial domain.
package final class ContentIndex {
    private(set) var table = RowTable()
    private(set) var columns: ColumnTable
    /// The fields that can be sorted by besides those derived, as declared.
    let fields: [Field]
    var cache = LeafCache()
    /// The changes, for live queries and kept results.
    var log = ChangeLog()
    /// The live queries, by the parts that they read.
    let live = LiveQueries()
    /// The items that moved since the last `take(at:)`.
    var moved = MovedItems()
    /// The orders that queries have used often enough.
    var orders = SortedOrders()
    /// The maximum number of rows whose keys a query may read in one turn.
    ///
    /// That takes about three milliseconds. A query that reads more is prepared
    /// (``QueryPreparation``), and so are queries that share a turn and read more together.
    package var looksInTurn = 1 << 19
    /// The number of words of a set that are scanned in a step, of 64 rows each.
    var wordsInStep = 64

    package private(set) var derived = DerivedValues()
    var putting: PutFields
    /// The fields of items to come that are written already.
    package var written = WrittenFields()
    /// Starts at random, so that versions of different lists never match.
    private var retiredVersions = UInt64.random(in: 0..<1 << 60)
    private var retiredTrees: UInt64 = 0
    private var flatness: (treeVersion: UInt64, isFlat: Bool)?

    /// Creates an empty index.
    ///
    /// - Parameter fields: The fields of the items. If none is declared `search: true`, a search reads all texts and
    ///   keywords.
    package init(fields: [Field]) {
        self.fields = fields
        columns = ColumnTable(fields: fields)
        putting = PutFields(columns: fields.count)
    }

    deinit {
        Discard.later(parts)
        Discard.later(derived)
    }

    /// The number of items.
    package var count: Int { table.count }

    /// Every item's id, in any order; made anew at each call.
    var ids: [String] { table.ids }

    /// The number of rows, including those that hold no item.
    package var rowCount: Int { table.end }

    /// The ids of the items in some rows.
    package func ids(inRows rows: Range<Int>) -> [String] {
        rows.filter(table.occupied.contains).map(table.id)
    }

    /// Whether there is an item with this id.
    package func contains(_ id: String) -> Bool { table.row(of: id) != nil }

    /// The sequence of the entry that last changed an item; nil when there is none with this id.
    package func revision(of id: String) -> Int64? { table.row(of: id).map(table.revision) }

    /// Sets the sequence of the entry that last changed an item: for a restore, which puts all items
    /// before it knows.
    package func setRevision(_ revision: Int64, of id: String) {
        if let row = table.row(of: id) { table.setRevision(revision, row: row) }
    }

    /// The item with this id.
    package func item(_ id: String) -> IndexedItem? { table.row(of: id).map(item) }

    /// Inserts or replaces items, in order; `revision` is the sequence of the entry that did it.
    package func put(_ items: [Item], revision: Int64) {
        orders.willChange(items.count)
        for item in items { put(item, revision: revision) }
        orders.willChange(0)
        releaseTexts()
    }

    /// Inserts or replaces items, each with its own revision: for a restore.
    package func put(_ items: [(item: Item, revision: Int64)]) {
        orders.willChange(items.count)
        for (item, revision) in items { put(item, revision: revision) }
        orders.willChange(0)
        releaseTexts()
    }

    /// Removes items; ids without an item are ignored.
    ///
    /// Their tallies and comment counts stay, for when they return.
    package func remove(_ ids: [String]) {
        orders.willChange(ids.count)
        for id in ids { remove(id) }
        orders.willChange(0)
        releaseTexts()
    }

    /// Removes all items; tallies and comment counts stay.
    package func removeAll() {
        retiredVersions += columns.numbered.reduce(1) { $0 + $1.version }
        retiredTrees += table.treeVersion + 1
        Discard.later(parts)
        table = RowTable()
        cache.removeAll()
        orders.removeAll()
        log.dropAll()
        moved.forget()
        columns = ColumnTable(fields: fields)
    }

    /// Sets the tally of an item's votes, whether or not the item exists.
    package func setTally(_ tally: Tally, for id: String) {
        guard derived.tallies[id] ?? Tally() != tally else { return }
        derived.setTally(tally, for: id)
        refill(id)
    }

    /// Sets the number of comments on an item, whether or not the item exists.
    package func setCommentCount(_ count: Int, for id: String) {
        guard derived.setCommentCount(count, for: id) != count else { return }
        refill(id, comments: count)
    }

    /// The items that have a tally, whether or not they exist.
    package var talliedItems: some Sequence<String> { derived.tallies.keys }

    /// The items that have comments, whether or not they exist.
    package var commentedItems: some Sequence<String> { derived.commentCounts.keys }

    /// Returns the distinct values of a field, sorted: numbers ascending, texts by folded form.
    ///
    /// Booleans are returned as such, times in canonical form. Empty for a field that does not exist. If there are more
    /// values than the limit, it returns those of the most items, as of the last change of
    /// ``valuesVersion(of:atMost:)``.
    package func distinctValues(of field: String, atMost limit: Int = .max) -> [Value] {
        columns[field]?.distinctValues(atMost: limit) ?? []
    }

    /// Values of a field in the order of ``distinctValues(of:atMost:)``, also those that are not here.
    package func sorted(_ values: [Value], of field: String) -> [Value] {
        columns[field]?.sorted(values) ?? values
    }

    /// Returns a search that finds ``distinctValues(of:atMost:)`` step by step, if that takes long; nil: they are
    /// known.
    package func search(valuesOf field: String, atMost limit: Int) -> ValueSearch? {
        columns[field]?.search(atMost: limit)
    }

    /// Returns the number of distinct values of a field.
    package func valueCount(of field: String) -> Int { columns[field]?.valueCount ?? 0 }

    /// Whether a field has more distinct values than the limit.
    package func hasValues(of field: String, beyond limit: Int) -> Bool {
        (columns[field]?.valueCount ?? 0) > limit
    }

    /// A number that is another one when the distinct values of any of these fields have changed, and in
    /// another index; those of a field that has more than the limit are looked for again after many changes.
    package func valuesVersion(of fields: [String], atMost limit: Int = .max) -> UInt64 {
        fields.reduce(retiredVersions) { $0 + (columns[$1]?.version(atMost: limit) ?? 0) }
    }

    /// A number that changes when an item is added, removed or moved to another parent.
    package var treeVersion: UInt64 { retiredTrees + table.treeVersion }

    /// Whether no item has a parent that exists: all items are roots.
    package var isFlat: Bool {
        if let flatness, flatness.treeVersion == treeVersion { return flatness.isFlat }
        let isFlat = table.roots.count == count
        flatness = (treeVersion, isFlat)
        return isFlat
    }

    /// Whether any item names a parent, there or not.
    package var hasChildren: Bool { !table.children.isEmpty }

    /// Returns the number of items directly under one, which itself need not exist.
    package func childCount(of id: String) -> Int { table.children[id]?.count ?? 0 }

    /// Returns the parent that an item names, whether or not it exists; nil: it names none, or there is no such item.
    package func parent(of id: String) -> String? { table.row(of: id).flatMap(table.parent) }

    /// Returns the path to an item, outermost first: its ancestors as far as they exist, and itself.
    ///
    /// - Parameters:
    ///   - id: the item; one that does not exist has an empty path.
    ///   - limit: the maximum number of ids; of more, the innermost.
    /// - Returns: the ids.
    package func way(to id: String, limit: Int) -> [String] {
        var way: [String] = []
        var row = table.row(of: id)
        while let found = row, way.count < limit {
            let id = table.id(of: found)
            // Items that lie under one another have no outermost.
            guard !way.contains(id) else { break }
            way.append(id)
            row = table.parent(of: found).flatMap(table.row)
        }
        return way.reversed()
    }

    /// The item in a row that holds one.
    func item(row: Int) -> IndexedItem {
        let stored = table[row]
        return IndexedItem(
            id: stored.id, fields: stored.fields, parent: stored.parent,
            tally: derived.tallies[stored.id] ?? Tally(),
            comments: derived.commentCounts[stored.id] ?? 0, revision: stored.revision)
    }

    /// Adds a reader of the log: changes are recorded while there is one.
    func startLogging() { log.readers += 1 }

    /// One of those is gone.
    func stopLogging() {
        log.readers -= 1
        guard !log.isActive else { return }
        log.dropAll()
        releaseTexts()
    }

    /// The objects whose memory grows with the items.
    private var parts: [AnyObject] { [table] + orders.parts + columns.parts }
}
