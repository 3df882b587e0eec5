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

    /// The number of values up to which they are searched without waiting for the user's turn.
    static let fewValues = 256
}

/// A call that reads the filters of a container, with the number of items that each would show.
///
/// Its stages, from top to bottom: the sections, for a page of one section its filters, the counts, the reply. A query
/// that may take long waits for its user's turn, and the call begins again then.
final class FiltersCall {
    /// The request of a caller.
    struct Request {
        /// The filters component; nil: all.
        var component: String?
        /// The scope whose first list is counted; nil: the container's.
        var scope: String?
        /// The selected filters; those of a section do not affect its own counts.
        var selection: Selection
        /// Text that items must contain; nil: any.
        var search: String?
        /// A page of one section's filters; nil: all sections.
        var page: SectionPage?
        /// Whose call it is.
        var user: String
        /// For whom it is, in whose turn a long query is made; nil: the user.
        var actor: String?
        /// Whether somebody still waits for the reply.
        var isAwaited: () -> Bool
    }

    private let request: Request
    private let container: Container
    private let reply: Answer<FiltersPage>
    /// Whether it is the user's turn, so that the query may take long.
    private let hasTurn: Bool

    init(
        _ request: Request, of container: Container, hasTurn: Bool = false,
        _ reply: @escaping Answer<FiltersPage>
    ) {
        self.request = request
        self.container = container
        self.hasTurn = hasTurn
        self.reply = reply
    }

    func run() {
        let only: Slot?
        do throws(HostError) {
            let slot = try container.slot(request.component, .filters)
            only = request.component == nil ? nil : slot
            try container.scopes.check(request.scope)
            let limits = container.domain.limits
            try limits.check(search: request.search, selection: request.selection)
            try limits.check(search: request.page?.text)
        } catch {
            return fail(error)
        }
        container.filters.resolve(request.selection, offers: true, only: only, by: request.user) {
            result in
            switch result {
            case .failure(let error): self.fail(error)
            case .success(let sections):
                guard let page = self.request.page else {
                    return self.count(sections, self.reply)
                }
                self.find(page, in: sections, only)
            }
        }
    }

    private func fail(_ error: HostError) { reply(.failure(error)) }

    // MARK: A page of a section's filters

    private func find(_ page: SectionPage, in sections: [ResolvedSection], _ only: Slot?) {
        guard let place = sections.firstIndex(where: { $0.section.id == page.section }) else {
            return fail(
                .filterNotFound(
                    section: page.section, filter: "", known: sections.map(\.section.id),
                    reason: nil))
        }
        let asked = only.map { [$0] } ?? container.filters.slots
        find(page, in: sections[place], of: asked) { result in
            switch result {
            case .failure(let error): self.fail(error)
            case .success(let found):
                var sections = sections
                for index in sections.indices { sections[index].section.filters = [] }
                sections[place].section.filters = found.filters
                self.count(sections) { self.reply($0.map { $0.page(of: place, found) }) }
            }
        }
    }

    /// Finds the filters on a page of a section that one of the filters components has; fails with `refused` if the
    /// field has too many values to search.
    private func find(
        _ page: SectionPage, in section: ResolvedSection, of slots: [Slot],
        _ done: @escaping Answer<FoundFilters<Filter>>
    ) {
        let offered = section.section.filters + section.unsent
        guard section.section.hasMore, section.unsent.isEmpty, let field = section.section.field
        else {
            return find(offered, titled: \.title, on: page, done)
        }
        let lists = container.contents.lists
        let count = lists.map { $0.values.count(of: field) }.max() ?? 0
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
        guard hasTurn || count <= SectionPage.fewValues else { return waitForTurn() }
        let sorted = lists.distinctValues(of: field, atMost: SectionPage.mostValues).values
            .compactMap(\.plainText).filter { !$0.isEmpty }
        // A section may list its values in reverse. Lazy: only the first and the last are looked up.
        let places = offered.lazy.compactMap { filter in sorted.firstIndex(of: filter.id) }
        var values = sorted
        if let first = places.first, let last = places.last, first > last { values.reverse() }
        find(values, titled: \.self, on: page) { result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let found):
                let ids = found.filters.map {
                    ComponentQuery.FilterID(section: page.section, filter: $0)
                }
                self.ask(for: ids, slots[...]) { filters in
                    done(
                        filters.map {
                            FoundFilters(filters: $0, total: found.total, next: found.next)
                        })
                }
            }
        }
    }

    /// Asks for filters, of each component until one has them.
    private func ask(
        for ids: [ComponentQuery.FilterID], _ slots: ArraySlice<Slot>,
        _ done: @escaping Answer<[Filter]>
    ) {
        guard let slot = slots.first, !ids.isEmpty else { return done(.success([])) }
        slot.requests.ask(.filters(ids), for: slot, by: request.user) { result in
            switch result {
            case .success(.filters(let filters)): done(.success(filters))
            case .failure(let error) where slots.count == 1: done(.failure(error))
            case .success, .failure: self.ask(for: ids, slots.dropFirst(), done)
            }
        }
    }

    private func find<Element>(
        _ all: [Element], titled title: @escaping (Element) -> String, on page: SectionPage,
        _ done: @escaping (Result<FoundFilters<Element>, HostError>) -> Void
    ) {
        guard let start = page.start else { return done(.failure(page.cursorProblem)) }
        let limit = container.domain.limits.facetValues
        var search = TitleSearch(all, titled: title, for: page.text)
        container.domain.slices.run {
            self.request.isAwaited() && search.step()
        } then: {
            guard self.request.isAwaited() else { return done(.failure(LongQueries.abandoned)) }
            let matches = search.matches
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

    // MARK: Counts

    /// Counts the items that each filter would show.
    private func count(_ sections: [ResolvedSection], _ reply: @escaping Answer<FiltersPage>) {
        guard container.first(.contents) != nil else {
            return reply(.success(answer(sections, counts: nil, total: 0)))
        }
        do throws(HostError) {
            let mode = ListMode(isInside: false, isSearching: request.search?.isEmpty == false)
            let (slot, list) = try container.scopes.list(nil, in: request.scope, mode)
            // Not counted for a source that is asked: the list has only what it has answered lately.
            let isCounted = !slot.asks
            let answer = { (found: IndexPage?) in
                self.answer(
                    sections, counts: isCounted ? found?.counts ?? [] : nil,
                    total: found?.total ?? 0)
            }
            let query = IndexQuery(
                sections: sections.map(\.query), search: request.search, limit: 0,
                countsFacets: isCounted)
            guard hasTurn else {
                guard !query.isLong(in: list), let page = try list.answer(query) else {
                    return waitForTurn()
                }
                return reply(.success(answer(page)))
            }
            list.prepare(query, of: slot, while: request.isAwaited) { result in
                // The component may have been made anew meanwhile.
                guard self.container.slot(slot.name)?.list === list else {
                    return self.count(sections, reply)
                }
                reply(result.map { answer($0.answer().map(IndexPage.init)) })
            }
        } catch {
            reply(.failure(error))
        }
    }

    private func answer(
        _ sections: [ResolvedSection], counts: [[Int]]?, total: Int
    ) -> FiltersPage {
        FiltersPage(
            sections: sections.views(counts: counts), total: total,
            sequence: container.domain.commits.sequence)
    }

    /// Waits for the user's turn, and begins again then.
    private func waitForTurn() {
        let (request, container) = (request, container)
        container.domain.queries.add(
            of: request.actor ?? request.user, while: request.isAwaited, reply
        ) { reply in
            FiltersCall(request, of: container, hasTurn: true, reply).run()
        }
    }
}

/// The filters on a page, or the values that they are made from.
private struct FoundFilters<Element> {
    var filters: [Element]
    /// The number of matches on all pages.
    var total: Int
    /// The cursor of the next page; nil if this is the last.
    var next: String?
}

extension SectionPage {
    /// The number of filters on the previous pages; nil if no page returned such a cursor.
    fileprivate var start: Int? {
        guard let cursor else { return 0 }
        return Int(cursor).flatMap { $0 > 0 && "\($0)" == cursor ? $0 : nil }
    }

    /// The error for a cursor at which no page begins.
    fileprivate var cursorProblem: HostError {
        .cursorInvalid(
            "It is not the 'next' of a page of these filters as they are now. Start again without a "
                + "cursor.")
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
