import AtriumKit

extension ContentIndex {
    /// What matches a query: a page, the total and the counts, all of one moment.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - prepared: What was found of it ahead, right up to now; nil: nothing.
    /// - Returns: The page.
    /// - Throws: ``IndexError`` for a sort field that is not there, naming those that are, and
    ///   for a
    ///   cursor that does not belong to this sort.
    func query(
        _ query: IndexQuery, _ prepared: QueryPreparation? = nil
    ) throws(IndexError) -> IndexPage {
        let order = try RowOrder(query.sort, in: self)
        let after = try query.cursor.map { text throws(IndexError) in
            try order.position(cursor: text)
        }
        let matches = Matches(query, in: self, prepared)
        let counts =
            query.countsFacets ? query.sections.map { matches.counts(of: $0, in: self) } : []
        let (rows, isLast) = order.page(
            of: matches.rows, total: matches.total, after: after, limit: query.limit)
        let shown = items(rows)
        return IndexPage(
            rows: shown, total: matches.total, counts: counts,
            next: isLast && shown.count == rows.count
                ? nil : rows.prefix(shown.count).last.map(order.cursor))
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
    /// What matches.
    let rows: Bitset
    /// How many that are.
    let total: Int

    /// What the scope and the search let through.
    private let base: Bitset
    private let isEverything: Bool
    private let selected: [(id: String, rows: MatchingRows)]
    private let prepared: QueryPreparation?

    init(_ query: IndexQuery, in index: ContentIndex, _ prepared: QueryPreparation? = nil) {
        var base: Bitset =
            switch query.parent {
            case .all: index.table.occupied
            case .roots: index.table.roots
            case .under(let id): index.table.children(of: id)
            }
        self.prepared = prepared
        let search = prepared?.searchRows ?? index.rows(matchingSearch: query.search)
        search.narrow(&base)
        selected = query.sections.enumerated().compactMap { place, section in
            guard !section.selected.isEmpty else { return nil }
            let rows = prepared?.rows(ofSection: place)
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

    /// How many items each filter that a section offers would let through, were it alone selected
    /// in its section.
    func counts(of section: SectionQuery, in index: ContentIndex) -> [Int] {
        var universe = rows
        if selected.contains(where: { $0.id == section.id }) {
            universe = base
            for other in selected where other.id != section.id { other.rows.narrow(&universe) }
        }
        let total = universe.count
        if let counts = countsByRow(of: section, in: universe, total: total, index) {
            return counts
        }
        let isUnrestricted = isEverything && !selected.contains { $0.id != section.id }
        return section.offered.map { predicate in
            let matching = prepared?.rows(matching: predicate) ?? index.rows(matching: predicate)
            if isUnrestricted, case .listed(let postings) = matching { return postings.count }
            return matching.count(in: universe, total: total)
        }
    }

    /// The counts by one pass over the rows, where these are few and the section offers values of
    /// one field; nil where that is not so.
    private func countsByRow(
        of section: SectionQuery, in universe: Bitset, total: Int, _ index: ContentIndex
    ) -> [Int]? {
        guard total * 8 < index.count, section.offered.count > 1,
            case .equals(let field, _) = section.offered[0], let column = index.columns[field]
        else { return nil }
        var values: [Value] = []
        for predicate in section.offered {
            guard case .equals(field, let value) = predicate, !value.isNull else { return nil }
            values.append(value)
        }
        switch column {
        case .text(let column):
            let texts = values.compactMap(\.text)
            guard texts.count == values.count else { return nil }
            let counts = column.counts(in: universe)
            return texts.map { column.values.code(of: $0).map { Int(counts[$0]) } ?? 0 }
        case .number(let column):
            let numbers = values.compactMap(column.number)
            guard numbers.count == values.count else { return nil }
            return column.counts(of: numbers, in: universe)
        }
    }
}
