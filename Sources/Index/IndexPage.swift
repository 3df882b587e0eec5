/// The answer to a query, all of one moment.
package struct IndexPage {
    /// About how many bytes the items of a page have at most; a single item may have more.
    static let mostBytes = 4 << 20

    /// The items of this page, in order.
    package var rows: [IndexedItem]
    /// The number of items that match, on all pages.
    package var total: Int
    /// The counts, for each section of the query and each filter that it offers: the number of items that would match
    /// if this filter were the only one selected in its section.
    ///
    /// Empty unless the query requests counts.
    package var counts: [[Int]]
    /// The cursor of the next page; nil on the last.
    package var next: String?
}

extension IndexPage {
    /// The page that was prepared, right up to now.
    package init(_ answer: AnswerSearch) {
        let found = answer.page
        let rows = Array(found.rows.prefix(answer.query.limit))
        self.init(
            (rows, found.isLast && rows.count == found.rows.count), total: answer.total,
            counts: answer.counts, by: answer.order, of: answer.index)
    }

    init(
        _ page: RowOrder.Page, total: Int, counts: [[Int]], by order: RowOrder,
        of index: ContentIndex
    ) {
        let shown = Self.items(page.rows, of: index)
        self.init(
            rows: shown, total: total, counts: counts,
            next: page.isLast && shown.count == page.rows.count
                ? nil : page.rows.prefix(shown.count).last.map(order.cursor))
    }

    /// The items of a page, or as many as it may have bytes; one at least.
    private static func items(_ rows: [Int], of index: ContentIndex) -> [IndexedItem] {
        var items: [IndexedItem] = []
        items.reserveCapacity(rows.count)
        var bytes = 0
        for row in rows {
            let item = index.item(row: row)
            bytes += item.fields.count
            guard items.isEmpty || bytes <= mostBytes else { break }
            items.append(item)
        }
        return items
    }
}
