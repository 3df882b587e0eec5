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
/// The index itself changes: it puts and removes items, and each of its parts follows. Everything else reads: a query
/// (``Matches``, ``RowOrder``), one in steps (``QueryPreparation``), one that is kept up to date (``LiveQuery``), a
/// check (``IndexCheck``).
///
/// It is not Sendable: it is used on the host's one serial domain.
package final class ContentIndex {
    /// The items, by row.
    let table = RowTable()
    /// The values of the fields, by row.
    let columns: ColumnTable
    /// The values that follow from votes and comments, by item.
    package private(set) var derived = DerivedValues()

    /// The items under one another.
    package let tree: ItemTree
    /// The distinct values of the fields.
    package let values: FieldValues
    /// The rows that match predicates and searches.
    let finder: RowFinder
    /// The sorted orders that queries have used often enough.
    package let orders: SortedOrders
    /// The changes, for live queries and for searches in steps.
    let log = ChangeLog()
    /// The live queries, by the parts that they read.
    package let live: LiveQueries

    /// The maximum number of rows whose keys a query may read in one turn.
    ///
    /// That takes about three milliseconds. A query that reads more is prepared
    /// (``QueryPreparation``), and so are queries that share a turn and read more together.
    package var looksInTurn = 1 << 19
    /// The number of words of a set that are scanned in a step, of 64 rows each.
    var wordsInStep = 64

    /// The fields of items to come that are written already.
    package var written = WrittenFields()
    private var putting: PutFields
    private let writer: ColumnWriter

    /// Creates an empty index; if no field is declared `search: true`, a search reads all texts and keywords.
    package init(fields: [Field]) {
        columns = ColumnTable(fields: fields)
        tree = ItemTree(table)
        values = FieldValues(columns)
        finder = RowFinder(table, columns)
        orders = SortedOrders(table, columns.numbered)
        live = LiveQueries(table, log)
        writer = ColumnWriter(columns, orders, log)
        putting = PutFields(columns: fields.count)
    }

    deinit {
        // What grows with the items.
        Discard.later([table] + orders.parts + columns.parts)
        Discard.later(derived)
    }

    /// The number of items.
    package var count: Int { table.count }

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

    /// The item with this id.
    package func item(_ id: String) -> IndexedItem? { table.row(of: id).map(item) }

    /// The item in a row that holds one.
    func item(row: Int) -> IndexedItem {
        let stored = table[row]
        return IndexedItem(
            id: stored.id, fields: stored.fields, parent: stored.parent,
            tally: derived.tallies[stored.id] ?? Tally(),
            comments: derived.commentCounts[stored.id] ?? 0, revision: stored.revision)
    }

    /// Whether a field can be sorted by.
    package func isSortable(by field: String) -> Bool { columns[field] != nil || field == "id" }

    /// Runs a query: returns a page, the total and the counts, all of one moment.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - looks: The maximum number of rows to read; nil: as many as fit into one turn of the loop.
    /// - Returns: The page; nil: the query needs more, and has to be prepared (``QueryPreparation``).
    /// - Throws: ``IndexError`` for a sort field that does not exist, naming those that do, and for a cursor that does
    ///   not belong to this sort.
    package func page(
        of query: IndexQuery, within looks: Int? = nil
    ) throws(IndexError) -> IndexPage? {
        let order = try RowOrder(query.sort, in: self)
        let after = try order.position(of: query)
        var looks = looks ?? looksInTurn
        let matches = Matches(query, by: finder)
        guard let counts = matches.counts(of: query, by: finder, within: &looks),
            let page = order.page(
                of: matches.rows, total: matches.total, after: after, limit: query.limit,
                within: &looks)
        else { return nil }
        return IndexPage(page, total: matches.total, counts: counts, by: order, of: self)
    }

    /// Inserts or replaces items, in order; `revision` is the sequence of the entry that did it.
    package func put(_ items: [Item], revision: Int64) {
        change(items.count) {
            for item in items { put(item, revision: revision) }
        }
    }

    /// Inserts or replaces items, each with its own revision: for a restore.
    package func put(_ items: [(item: Item, revision: Int64)]) {
        change(items.count) {
            for (item, revision) in items { put(item, revision: revision) }
        }
    }

    /// Inserts or replaces items whose fields are written already.
    package func put(_ items: [WrittenItem]) {
        change(items.count) {
            for item in items {
                putting.spread(item.item.fields, over: columns)
                item.fields.withUnsafeBytes { put(item.item, fields: $0, revision: item.revision) }
            }
        }
    }

    /// Removes items; ids without an item are ignored.
    ///
    /// Their tallies and comment counts stay, for when they return.
    package func remove(_ ids: [String]) {
        change(ids.count) {
            for id in ids { remove(id) }
        }
    }

    /// Sets the sequence of the entry that last changed an item: for a restore, which puts all items
    /// before it knows.
    package func setRevision(_ revision: Int64, of id: String) {
        if let row = table.row(of: id) { table.setRevision(revision, row: row) }
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

    /// Adds a reader of the log: changes are recorded while there is one.
    func startLogging() { log.addReader() }

    /// Removes a reader of the log, and releases the texts that are kept for readers if it was the last one.
    func stopLogging() {
        log.removeReader()
        writer.releaseTexts()
    }

    // MARK: One row's change: what becomes of its columns, of the orders and of the log

    /// Makes changes of so many items.
    private func change(_ count: Int, _ body: () -> Void) {
        orders.willChange(count)
        body()
        orders.willChange(0)
        writer.releaseTexts()
    }

    /// Inserts or replaces an item.
    private func put(_ item: Item, revision: Int64) {
        putting.spread(item.fields, over: columns)
        let isPut: Void? = written.take(item) { put(item, fields: $0, revision: revision) }
        guard isPut == nil else { return }
        putting.write(item.fields, under: columns)
        // The buffer is lent, not copied: a put writes the fields only to where they stay.
        putting.withWritten { put(item, fields: $0, revision: revision) }
    }

    /// Inserts or replaces an item whose fields were spread.
    private func put(_ item: Item, fields written: UnsafeRawBufferPointer, revision: Int64) {
        let (row, former) = table.put(
            id: item.id, parent: item.parent, fields: written, revision: revision)
        var change = RowChange(
            row: row, id: former == nil ? nil : item.id, parent: former?.parent,
            isRoot: former?.isRoot ?? false)
        defer { record(change) }
        guard let former else {
            change.record([.presence, .parent])
            tree.recordMove(of: item.id, to: item.parent)
            writer.set(putting.values, row: row, noting: &change)
            writer.set(derived.values(of: item.id), row: row, noting: &change)
            noteChildren(of: item.id, in: row, wereRoots: true)
            return orders.insert(row)
        }
        if former.parent != item.parent {
            change.record(.parent)
            tree.recordMove(of: item.id, to: item.parent, from: former.parent)
        }
        guard !former.hasSameFields else { return }
        writer.set(putting.values, row: row, noting: &change)
    }

    /// Removes an item, if there is such a one.
    private func remove(_ id: String) {
        guard let row = table.row(of: id) else { return }
        orders.remove(row)
        var change = RowChange(
            row: row, id: id, parent: table.parent(of: row), isRoot: table.roots.contains(row),
            parts: [.presence, .parent])
        tree.recordMove(of: table.id(of: row), to: table.parent(of: row))
        _ = table.remove(id)
        writer.clear(row: row, noting: &change)
        record(change)
        noteChildren(of: id, in: row, wereRoots: false)
    }

    /// An item came or went, and with it its children from the roots or to them.
    private func noteChildren(of id: String, in own: Int, wereRoots: Bool) {
        guard log.isActive, let rows = table.children[id] else { return }
        // Of more than the log holds nobody is to follow each.
        guard rows.count < ChangeLog.length else { return log.dropAll() }
        rows.visit { row in
            // One that names itself has a change of its own.
            guard row != own else { return }
            record(
                RowChange(
                    row: row, id: table.id(of: row), parent: table.parent(of: row),
                    isRoot: wereRoots, parts: .parent))
        }
    }

    /// Updates the derived values of an item, or only the number of its comments.
    private func refill(_ id: String, comments: Int? = nil) {
        guard let row = table.row(of: id) else { return }
        var change = RowChange(
            row: row, id: id, parent: table.parent(of: row), isRoot: table.roots.contains(row))
        if let comments {
            writer.set(comments: comments, row: row, noting: &change)
        } else {
            writer.set(derived.values(of: id), row: row, noting: &change)
        }
        record(change)
    }

    private func record(_ change: RowChange) {
        finder.leaves.markChanged(row: Int(change.row), of: table.count)
        if log.append(change) { writer.ageTexts() }
    }
}
