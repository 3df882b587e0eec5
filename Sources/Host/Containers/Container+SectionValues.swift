import AtriumKit
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

    /// The number of filters on the previous pages; nil if no page returned such a cursor.
    fileprivate var start: Int? {
        guard let cursor else { return 0 }
        return Int(cursor).flatMap { $0 > 0 && "\($0)" == cursor ? $0 : nil }
    }

    /// The error for a cursor at which no page begins.
    fileprivate var cursorProblem: HostError {
        .parameterInvalid(
            parameter: "cursor",
            reason: "It is not the 'next' of a page of these filters as they are now. Start again "
                + "without a cursor.")
    }
}

/// The filters on a page, or the values that they are made from.
struct FoundFilters<Element> {
    var filters: [Element]
    /// The number of matches on all pages.
    var total: Int
    /// The cursor of the next page; nil if this is the last.
    var next: String?
}

// Filters beyond those that sections send.
extension Container {
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

    /// Counts the filters on a page of one section.
    func page(
        _ page: SectionPage, of sections: [ResolvedSection], only: Slot?, by user: String,
        counting count: @escaping ([ResolvedSection], @escaping Answer<FiltersPage>) -> Void,
        _ reply: @escaping Answer<FiltersPage>
    ) {
        guard let place = sections.firstIndex(where: { $0.section.id == page.section }) else {
            let known = sections.map(\.section.id)
            return reply(
                .failure(
                    .filterNotFound(section: page.section, filter: "", known: known, reason: nil)))
        }
        let asked = only.map { [$0] } ?? slots.filter { $0.kind == .filters }
        find(page, in: sections[place], of: asked, by: user) { result in
            do throws(HostError) {
                let found = try result.get()
                var sections = sections
                for index in sections.indices { sections[index].section.filters = [] }
                sections[place].section.filters = found.filters
                count(sections) { result in
                    reply(result.map { $0.page(of: place, found) })
                }
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Finds the filters on a page of a section.
    ///
    /// - Parameters:
    ///   - page: the page.
    ///   - section: the section, with its component's offer.
    ///   - slots: the filters components, one of which has the section.
    ///   - user: whose call it is.
    ///   - done: the filters; fails with `refused` if the field has too many values to search.
    private func find(
        _ page: SectionPage, in section: ResolvedSection, of slots: [Slot], by user: String,
        _ done: @escaping Answer<FoundFilters<Filter>>
    ) {
        let offered = section.section.filters + section.unsent
        guard section.section.hasMore, section.unsent.isEmpty, let field = section.section.field
        else {
            return find(offered, titled: \.title, on: page, done)
        }
        let lists = self.slots.compactMap(\.list)
        let count = lists.map { $0.valueCount(of: field) }.max() ?? 0
        guard count <= SectionPage.mostValues else {
            return done(
                .failure(
                    .refused(
                        reason:
                            "The section '\(page.section)' is of the field '\(field)', which has "
                            + "\(count) values, and at most \(SectionPage.mostValues) are looked "
                            + "through. Select one by its name, or make it 'input: text'.",
                        retryAfter: nil)))
        }
        var values = lists.distinctValues(of: field, atMost: SectionPage.mostValues).values
            .compactMap(\.plainText).filter { !$0.isEmpty }
        // A section may list its values in reverse.
        let places = offered.compactMap { filter in values.firstIndex(of: filter.id) }
        if let first = places.first, let last = places.last, first > last { values.reverse() }
        find(values, titled: \.self, on: page) { [self] result in
            do throws(HostError) {
                let found = try result.get()
                let ids = found.filters.map {
                    ComponentQuery.FilterID(section: page.section, filter: $0)
                }
                ask(for: ids, slots[...], by: user) { filters in
                    done(
                        filters.map {
                            FoundFilters(filters: $0, total: found.total, next: found.next)
                        })
                }
            } catch {
                done(.failure(error))
            }
        }
    }

    /// Asks for filters, of each component until one has them.
    private func ask(
        for ids: [ComponentQuery.FilterID], _ slots: ArraySlice<Slot>, by user: String,
        _ done: @escaping Answer<[Filter]>
    ) {
        guard let slot = slots.first, !ids.isEmpty else { return done(.success([])) }
        slot.ask(.filters(ids), by: user) { [self] result in
            switch result {
            case .success(.filters(let filters)): done(.success(filters))
            case .failure(let error) where slots.count == 1: done(.failure(error))
            case .success, .failure: ask(for: ids, slots.dropFirst(), by: user, done)
            }
        }
    }

    private func find<Element>(
        _ all: [Element], titled title: @escaping (Element) -> String, on page: SectionPage,
        _ done: @escaping (Result<FoundFilters<Element>, HostError>) -> Void
    ) {
        guard let start = page.start else { return done(.failure(page.cursorProblem)) }
        let needle = Folding.fold(page.text ?? "")
        let limit = domain.limits.facetValues
        var matches: [Element] = []
        var rest = all[...]
        domain.inSlices {
            for element in rest.prefix(256)
            where needle.isEmpty || !Folding.fold(title(element)).ranges(of: needle).isEmpty {
                matches.append(element)
            }
            rest = rest.dropFirst(256)
            return !rest.isEmpty
        } then: {
            // A page that ended here had more filters after it, so these have changed.
            guard start == 0 || start < matches.count else {
                return done(.failure(page.cursorProblem))
            }
            let filters = matches[start...].prefix(limit)
            let hasMore = filters.endIndex < matches.count
            done(
                .success(
                    FoundFilters(
                        filters: Array(filters), total: matches.count,
                        next: hasMore ? "\(filters.endIndex)" : nil)))
        }
    }
}

extension FiltersPage {
    /// The result for a page: its section with the filters on it.
    fileprivate func page(of place: Int, _ found: FoundFilters<Filter>) -> FiltersPage {
        var page = self
        var section = sections[place]
        section.filters = Array(section.filters.prefix(found.filters.count))
        section.more = found.next != nil
        section.rest = found.next.flatMap { Int($0) }.map { found.total - $0 }
        page.sections = [section]
        page.next = found.next
        return page
    }
}

extension FilterSection {
    /// The field whose values the filters select; nil if they are of another kind.
    fileprivate var field: String? {
        for filter in filters {
            if case .equals(let field, _) = filter.predicate { return field }
        }
        return nil
    }
}
