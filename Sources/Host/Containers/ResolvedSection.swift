import AtriumKit
import Index

/// A section in a query: its filters on offer, and those that are selected.
struct ResolvedSection: Equatable {
    /// The section with its filters on offer; without filters if the offer was not requested.
    var section: FilterSection
    /// The selected filters, whether on offer or not.
    var selected: [Filter]
    /// The filters on offer beyond the limit, which are not sent.
    var unsent: [Filter] = []
    /// The number of filters besides those on offer; nil if it is not known or there are none.
    var rest: Int?

    /// The filters on offer, then the selected ones that are not.
    var filters: [Filter] {
        let offered = Set(section.filters.map(\.id))
        return section.filters + selected.filter { !offered.contains($0.id) }
    }

    var query: SectionQuery {
        SectionQuery(
            id: section.id, selected: selected.map(\.predicate),
            offered: filters.map(\.predicate))
    }
}

extension [ResolvedSection] {
    /// The sections as they are sent, with counts.
    ///
    /// - Parameters:
    ///   - counts: by section and by filter, in the order of ``ResolvedSection/filters``; nil: not counted.
    ///   - before: the previous counts and views; a section with the same counts is reused.
    /// - Returns: the views.
    func views(
        counts: [[Int]]?, before: (counts: [[Int]]?, views: [SectionView]) = (nil, [])
    ) -> [SectionView] {
        enumerated().map { index, resolved in
            let own = counts.map { index < $0.count ? $0[index] : [] }
            if index < before.views.count,
                own == before.counts.map({ index < $0.count ? $0[index] : [] })
            {
                return before.views[index]
            }
            let selected = Set(resolved.selected.map(\.id))
            let filters = resolved.filters.enumerated().map { place, filter in
                SectionView.FilterView(
                    id: filter.id, title: filter.title,
                    count: own.map { place < $0.count ? $0[place] : 0 },
                    selected: selected.contains(filter.id))
            }
            return SectionView(
                id: resolved.section.id, title: resolved.section.title,
                input: resolved.section.input, filters: filters, more: resolved.section.hasMore,
                rest: resolved.rest)
        }
    }
}
