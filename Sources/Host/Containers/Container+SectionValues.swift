import AtriumKit
import Index

/// Which filters of a section somebody wants to see: a page of all that there are.
public struct SectionPage: Sendable, Hashable {
    /// The section's id.
    public var section: String
    /// What their titles contain, without regard to case and accents; nil or empty: anything.
    public var text: String?
    /// Where the page before ended; nil: the first page.
    public var cursor: String?

    /// A page of a section.
    public init(section: String, text: String? = nil, cursor: String? = nil) {
        self.section = section
        self.text = text
        self.cursor = cursor
    }

    /// Of a field with more values they are not looked through.
    static let mostValues = 10_000

    /// How many filters the pages before had; nil: no page has given such a cursor.
    fileprivate var start: Int? {
        guard let cursor else { return 0 }
        return Int(cursor).flatMap { $0 > 0 && "\($0)" == cursor ? $0 : nil }
    }

    /// Why a page can't begin where its cursor says.
    fileprivate var cursorProblem: HostError {
        .parameterInvalid(
            parameter: "cursor",
            reason: "It is not the 'next' of a page of these filters as they are now. Start again "
                + "without a cursor.")
    }
}

/// The filters on a page, or what stands for them.
struct FoundFilters<Element> {
    var filters: [Element]
    /// How many match on all pages.
    var total: Int
    /// The next page's cursor; nil: this is the last.
    var next: String?
}

// What sections offer beyond what they send.
extension Container {
    /// Sections that send no more than so many filters, those that a component offers first and those selected.
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
                // As many as there were when the component was told of values: what changes meanwhile does not count.
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
    ///   - page: which.
    ///   - section: the section, with what its component offers.
    ///   - slots: the filters components, one of which has it.
    ///   - user: whose call it is.
    ///   - done: fails with `refused` where the field has too many values to look through.
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
        // A section may have them the other way round.
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

    /// Asks the component that has these filters for them.
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
            // A page that ended there had others behind it.
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
    /// The one section of a page, with the filters that are on it.
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
    /// The field whose values are its filters; nil: they are others.
    fileprivate var field: String? {
        for filter in filters {
            if case .equals(let field, _) = filter.predicate { return field }
        }
        return nil
    }
}
