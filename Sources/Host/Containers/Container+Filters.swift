public import AtriumKit
import Index

/// A page of the filters of one section, as a caller requests it.
public struct SectionPage: Sendable, Hashable {
    /// The section's id.
    public var section: String
    /// A text that titles must contain, regardless of case and accents; nil or empty: any.
    public var text: String?
    /// The `next` of the previous page; nil: the first page.
    public var cursor: String?

    /// Makes a page of a section.
    public init(section: String, text: String? = nil, cursor: String? = nil) {
        self.section = section
        self.text = text
        self.cursor = cursor
    }

    /// The maximum number of values of a field that are searched.
    static let mostValues = 10_000
}

// Filters, and the predicates that they stand for.
extension Container {
    /// Reads all sections, with the number of items of the first list that each filter would show.
    ///
    /// - Parameters:
    ///   - component: the filters component; nil: all.
    ///   - scope: the scope whose first list is counted; nil: the container's.
    ///   - selection: the selected filters; those of a section do not affect its own counts.
    ///   - search: text that items must contain; nil: any.
    ///   - page: requests a page of one section's filters; nil: all sections.
    ///   - user: whose call it is; long queries of different users take turns.
    ///   - reply: the sections; fails with `filterNotFound`, `scopeNotFound`, `parameterInvalid` or `refused`.
    public func filters(
        _ component: String?, in scope: String?, _ selection: Selection, search: String?,
        page: SectionPage? = nil, by user: String, _ reply: @escaping Answer<FiltersPage>
    ) {
        FiltersCall(
            FiltersCall.Request(
                component: component, scope: scope, selection: selection, search: search,
                page: page, user: user), of: self, reply
        ).run()
    }

    /// Looks up the selected filters, and those on offer.
    ///
    /// - Parameters:
    ///   - selection: filter ids by section.
    ///   - offers: whether to return all sections with their offers; otherwise only those with selected filters.
    ///   - only: the one filters component to ask; nil: all.
    ///   - user: whose call it is.
    ///   - ask: asks a component; screens pass one that shares answers; nil: each call asks by itself.
    ///   - then: called with the sections.
    func resolve(
        _ selection: Selection, offers: Bool, only: Slot? = nil, by user: String = "",
        asking ask: FilterResolution.Ask? = nil,
        then: @escaping Answer<[ResolvedSection]>
    ) {
        guard offers || !selection.isEmpty else { return then(.success([])) }
        FilterResolution(
            selection, offers: offers,
            of: only.map { [$0] } ?? slots.filter { $0.kind == .filters }, in: self,
            asking: ask ?? { $0.ask($1, by: user, $2) }, then
        ).run()
    }

    /// Limits the filters that each section sends, to the first that its component offers and the selected ones.
    func limited(_ sections: [ResolvedSection]) -> [ResolvedSection] {
        let limit = domain.limits.facetValues
        return sections.map { resolved in
            var resolved = resolved
            let offered = resolved.section.filters.count
            if offered > limit {
                resolved.unsent = Array(resolved.section.filters[limit...])
                resolved.section.filters.removeLast(offered - limit)
                resolved.rest = offered - limit
            } else if resolved.section.hasMore, let field = resolved.section.field {
                // The count of when the values were last sent to the component; changes since then are not included.
                let counts = slots.lazy.compactMap { $0.own.filters?.valueCounts[field] }
                if let count = counts.first, count > offered { resolved.rest = count - offered }
            }
            resolved.section.hasMore = resolved.section.hasMore || offered > limit
            return resolved
        }
    }

    /// Adds the known filters or sections to the error of a filter that was not found.
    func explain<T>(_ error: HostError, _ slot: Slot, _ then: @escaping Answer<T>) {
        guard case .filterNotFound(let section, let filter, _, let reason) = error else {
            return then(.failure(error))
        }
        slot.ask(.sections) { result in
            var known: [String] = []
            var reported: String?
            if case .success(.sections(let sections)) = result {
                if let found = sections.first(where: { $0.id == section }) {
                    known = found.filters.prefix(50).map(\.id)
                    reported = reason
                } else {
                    known = sections.map(\.id)
                }
            }
            then(
                .failure(
                    .filterNotFound(
                        section: section, filter: filter, known: known, reason: reported)))
        }
    }
}

extension FilterSection {
    /// The field whose values the filters select; nil if they are of another kind.
    var field: String? {
        for filter in filters {
            if case .equals(let field, _) = filter.predicate { return field }
        }
        return nil
    }
}
