import AtriumKit

extension ContentIndex {
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
        let matches = Matches(query, in: self)
        guard let counts = matches.counts(of: query, in: self, within: &looks),
            let page = order.page(
                of: matches.rows, total: matches.total, after: after, limit: query.limit,
                within: &looks)
        else { return nil }
        return self.page(page, total: matches.total, counts: counts, by: order)
    }

    /// The page that was prepared, right up to now.
    package func page(of answer: AnswerSearch) -> IndexPage {
        let found = answer.page
        let rows = Array(found.rows.prefix(answer.query.limit))
        return page(
            (rows, found.isLast && rows.count == found.rows.count), total: answer.total,
            counts: answer.counts, by: answer.order)
    }

    private func page(
        _ page: RowOrder.Page, total: Int, counts: [[Int]], by order: RowOrder
    ) -> IndexPage {
        let shown = items(page.rows)
        return IndexPage(
            rows: shown, total: total, counts: counts,
            next: page.isLast && shown.count == page.rows.count
                ? nil : page.rows.prefix(shown.count).last.map(order.cursor))
    }

    /// The items of a page, or as many as it may have bytes; one at least.
    private func items(_ rows: [Int]) -> [IndexedItem] {
        var items: [IndexedItem] = []
        items.reserveCapacity(rows.count)
        var bytes = 0
        for row in rows {
            let item = item(row: row)
            bytes += item.fields.count
            guard items.isEmpty || bytes <= IndexPage.mostBytes else { break }
            items.append(item)
        }
        return items
    }
}

/// The rows that match a query, and those that match all of it but one section.
struct Matches {
    /// The rows that match.
    let rows: Bitset
    /// The number of these rows.
    let total: Int

    /// The rows that match the scope and the search.
    private let base: Bitset
    private let isEverything: Bool
    private let selected: [(id: String, rows: MatchingRows)]

    /// Finds them; `selections` are those found ahead, right up to now.
    init(_ query: IndexQuery, in index: ContentIndex, _ selections: SelectionSearch? = nil) {
        var base: Bitset =
            switch query.parent {
            case .all: index.table.occupied
            case .roots: index.table.roots
            case .under(let id): index.table.children(of: id)
            }
        let search = selections?.searchRows ?? index.rows(matchingSearch: query.search)
        search.narrow(&base)
        selected = query.sections.enumerated().compactMap { place, section in
            guard !section.selected.isEmpty else { return nil }
            let rows = selections?.rows(ofSection: place)
            return (section.id, rows ?? index.rows(matchingAnyOf: section.selected))
        }
        var rows = base
        for section in selected { section.rows.narrow(&rows) }
        self.base = base
        self.rows = rows
        total = rows.count
        if case .all = search, query.parent == .all {
            isEverything = true
        } else {
            isEverything = false
        }
    }

    /// The rows among which a section's filters are counted.
    struct Universe {
        fileprivate let rows: Bitset
        fileprivate let total: Int
        /// Whether these are all items.
        fileprivate let isEverything: Bool

        /// Returns the number of these rows that match.
        func count(_ matching: MatchingRows) -> Int {
            if isEverything, case .listed(let postings) = matching { return postings.count }
            return matching.count(in: rows, total: total)
        }

        /// Returns the cost of ``count(_:)``, in rows whose keys are read: a word costs a quarter of that.
        func looks(at matching: MatchingRows) -> Int {
            if isEverything, case .listed = matching { return 1 }
            return 1 + matching.looks / 4
        }
    }

    /// The items that match all but a section's own selection.
    func universe(of section: SectionQuery) -> Universe {
        let isOnly = !selected.contains { $0.id != section.id }
        guard selected.contains(where: { $0.id == section.id }) else {
            return Universe(rows: rows, total: total, isEverything: isEverything && isOnly)
        }
        var universe = base
        for other in selected where other.id != section.id { other.rows.narrow(&universe) }
        return Universe(
            rows: universe, total: universe.count, isEverything: isEverything && isOnly)
    }

    /// Returns the cost of ``universe(of:)``, in rows whose keys are read.
    private func looksForUniverse(of section: SectionQuery) -> Int {
        guard selected.contains(where: { $0.id == section.id }) else { return 0 }
        // The base is copied and its rows are counted.
        return selected.reduce(base.words.count / 2) { looks, other in
            other.id == section.id ? looks : looks + other.rows.looks / 4
        }
    }

    /// Returns, for each filter that a section offers, the number of items that would match if it alone were selected
    /// in its section.
    ///
    /// Empty if the query does not request counts; nil: they cost more than `looks`.
    func counts(
        of query: IndexQuery, in index: ContentIndex, within looks: inout Int
    ) -> [[Int]]? {
        guard query.countsFacets else { return [] }
        var counts: [[Int]] = []
        for section in query.sections {
            looks -= looksForUniverse(of: section)
            guard looks >= 0 else { return nil }
            let universe = universe(of: section)
            let byRow = countsByRow(of: section, in: universe, index, within: &looks)
            guard looks >= 0 else { return nil }
            if let byRow {
                counts.append(byRow)
                continue
            }
            var own: [Int] = []
            for predicate in section.offered {
                let matching = index.rows(matching: predicate)
                looks -= universe.looks(at: matching)
                guard looks >= 0 else { return nil }
                own.append(universe.count(matching))
            }
            counts.append(own)
        }
        return counts
    }

    /// The counts by one pass over the rows, where these are few and the section offers values of
    /// one field; nil where that is not so, or it takes more looks than there are: then these are below 0.
    private func countsByRow(
        of section: SectionQuery, in universe: Universe, _ index: ContentIndex,
        within looks: inout Int
    ) -> [Int]? {
        guard universe.total * 8 < index.count, section.offered.count > 1,
            case .equals(let field, _) = section.offered[0], let column = index.columns[field]
        else { return nil }
        var values: [Value] = []
        for predicate in section.offered {
            guard case .equals(field, let value) = predicate, !value.isNull else { return nil }
            values.append(value)
        }
        looks -= universe.total
        guard looks >= 0 else { return nil }
        switch column {
        case .text(let column):
            let texts = values.compactMap(\.text)
            guard texts.count == values.count else { return nil }
            let counts = column.counts(in: universe.rows)
            return texts.map { column.values.code(of: $0).map { Int(counts[$0]) } ?? 0 }
        case .number(let column):
            let numbers = values.compactMap(column.number)
            guard numbers.count == values.count else { return nil }
            return column.counts(of: numbers, in: universe.rows)
        }
    }
}
