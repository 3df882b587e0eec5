import AtriumKit

/// A query that is kept answered while the index changes: screens that ask the same share one.
///
/// It shows the first ``IndexQuery/limit`` items, the total and the counts, all of the moment of the
/// last ``advance()``. Nothing is told to it: whoever holds it lets it advance after a commit.
///
/// What a section offers is fixed. Where it comes from the values that a field has, the holder sees
/// by ``ContentIndex/valuesVersion(of:)`` that they changed, and makes a new one.
final class LiveQuery {
    /// What it answers.
    let query: IndexQuery
    /// How many items match.
    private(set) var total = 0
    /// The first of them, in order.
    private(set) var window: [IndexedItem] = []
    /// For each section, for each filter it offers, how many items would match if this filter were
    /// the only one selected in its section.
    ///
    /// Empty unless the query asks for counts.
    private(set) var counts: [[Int]] = []

    private let index: ContentIndex
    private var position: UInt64

    /// Answers a query and keeps it answered: its limit is the window's length, its cursor is not
    /// looked at.
    ///
    /// - Throws: ``IndexError/sortFieldUnknown(field:known:)``.
    init(_ query: IndexQuery, in index: ContentIndex) throws(IndexError) {
        var query = query
        query.cursor = nil
        self.query = query
        self.index = index
        position = index.changeCount
        let page = try index.query(query)
        (total, window, counts) = (page.total, page.rows, page.counts)
    }

    /// Brings it up to the index's present state.
    ///
    /// - Returns: Whether anything that it shows is another than it was.
    func advance() -> Bool {
        guard position != index.changeCount else { return false }
        position = index.changeCount
        // The fields of an index do not change, so that what could be sorted by still can.
        guard let page = try? index.query(query) else { return false }
        let isSame = total == page.total && counts == page.counts && window == page.rows
        (total, window, counts) = (page.total, page.rows, page.counts)
        return !isSame
    }
}
