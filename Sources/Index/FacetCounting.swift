/// Counts the filters that a query's sections offer, some at a time, as of the rows when it was made.
struct FacetCounting {
    /// The number of words of sets, approximately, that are counted in one step.
    private static let looksInStep = 1 << 14

    private let matches: Matches
    private let sections: [(query: SectionQuery, offered: [MatchingRows])]
    /// The next section and filter, and the rows among which the section's filters are counted.
    private var next = (section: 0, filter: 0)
    private var universe: Matches.Universe?

    /// Prepares the counts of a query, if it requests any, with the sets that were found ahead.
    init(
        _ query: IndexQuery, _ matches: Matches, _ selections: SelectionSearch,
        by finder: RowFinder
    ) {
        self.matches = matches
        guard query.countsFacets else {
            sections = []
            return
        }
        // Sets that change later are other ones by then.
        sections = query.sections.map { section in
            let offered = section.offered.map {
                selections.rows(matching: $0) ?? finder.rows(matching: $0)
            }
            return (section, offered)
        }
    }

    /// Counts of nothing.
    var none: [[Int]] { sections.map { Array(repeating: 0, count: $0.offered.count) } }

    /// Adds the counts of some more filters; returns false if all are counted.
    mutating func step(into counts: inout [[Int]]) -> Bool {
        guard next.section < sections.count else { return false }
        let section = sections[next.section]
        let universe = universe ?? matches.universe(of: section.query)
        self.universe = universe
        var looks = 0
        while next.filter < section.offered.count, looks < Self.looksInStep {
            let matching = section.offered[next.filter]
            looks += universe.looks(at: matching)
            counts[next.section][next.filter] += universe.count(matching)
            next.filter += 1
        }
        if next.filter == section.offered.count {
            next = (next.section + 1, 0)
            self.universe = nil
        }
        return true
    }
}
