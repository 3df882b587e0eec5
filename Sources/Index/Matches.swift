import AtriumKit

/// The rows that match a query, and those that match all of it but one section.
struct Matches {
    let rows: Bitset
    /// The number of these rows.
    let total: Int

    /// The rows that match the scope and the search.
    private let base: Bitset
    private let isEverything: Bool
    private let selected: [(id: String, rows: MatchingRows)]

    /// Finds them; `selections` are those found ahead, right up to now.
    init(_ query: IndexQuery, by finder: RowFinder, _ selections: SelectionSearch? = nil) {
        var base: Bitset =
            switch query.parent {
            case .all: finder.table.occupied
            case .roots: finder.table.roots
            case .under(let id): finder.table.children(of: id)
            }
        let search = selections?.searchRows ?? finder.rows(matchingSearch: query.search)
        search.narrow(&base)
        selected = query.sections.enumerated().compactMap { place, section in
            guard !section.selected.isEmpty else { return nil }
            let rows = selections?.rows(ofSection: place)
            return (section.id, rows ?? finder.rows(matchingAnyOf: section.selected))
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
        of query: IndexQuery, by finder: RowFinder, within looks: inout Int
    ) -> [[Int]]? {
        guard query.countsFacets else { return [] }
        var counts: [[Int]] = []
        for section in query.sections {
            looks -= looksForUniverse(of: section)
            guard looks >= 0 else { return nil }
            let universe = universe(of: section)
            let byRow = countsByRow(of: section, in: universe, finder, within: &looks)
            guard looks >= 0 else { return nil }
            if let byRow {
                counts.append(byRow)
                continue
            }
            var own: [Int] = []
            for predicate in section.offered {
                let matching = finder.rows(matching: predicate)
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
        of section: SectionQuery, in universe: Universe, _ finder: RowFinder,
        within looks: inout Int
    ) -> [Int]? {
        guard universe.total * 8 < finder.table.count, section.offered.count > 1,
            case .equals(let field, _) = section.offered[0], let column = finder.columns[field]
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
