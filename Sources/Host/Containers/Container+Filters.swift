public import AtriumKit
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

// Resolving selections to predicates, with the help of the filters components.
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
        filters(
            component, in: scope, selection, search: search, page: page, by: user, hasTurn: false,
            reply)
    }

    /// Does what the public method does; with `hasTurn` it is the user's turn, and the query may take long.
    private func filters(
        _ component: String?, in scope: String?, _ selection: Selection, search: String?,
        page: SectionPage?, by user: String, hasTurn: Bool, _ reply: @escaping Answer<FiltersPage>
    ) {
        let chosen: Slot
        do throws(HostError) {
            chosen = try slot(component, .filters)
            if let scope, definition.scope(scope) == nil { throw scopeNotFound(scope) }
            try domain.limits.check(search: search, selection: selection)
            try domain.limits.check(search: page?.text)
        } catch {
            return reply(.failure(error))
        }
        let only = component == nil ? nil : chosen
        resolve(selection, offers: true, only: only, by: user) { [self] result in
            let count = {
                [self] (sections: [ResolvedSection], reply: @escaping Answer<FiltersPage>) in
                guard !hasTurn else {
                    return self.count(sections, in: scope, search: search, reply)
                }
                self.count(sections, in: scope, search: search, reply) { [self] in
                    domain.queries.add(of: user, reply) { [self] reply in
                        filters(
                            component, in: scope, selection, search: search, page: page, by: user,
                            hasTurn: true, reply)
                    }
                }
            }
            do throws(HostError) {
                let sections = try result.get()
                guard let page else { return count(sections, reply) }
                self.page(page, of: sections, only: only, by: user, counting: count, reply)
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Counts the items; calls `wait` instead if that takes long and it is not the user's turn.
    private func count(
        _ sections: [ResolvedSection], in scope: String?, search: String?,
        _ reply: @escaping Answer<FiltersPage>, orWait wait: (() -> Void)? = nil
    ) {
        var isCounted = false
        let answer = { [self] (found: IndexPage?) in
            FiltersPage(
                sections: sections.views(counts: isCounted ? found?.counts ?? [] : nil),
                total: found?.total ?? 0, sequence: domain.sequence)
        }
        guard first(.contents) != nil else { return reply(.success(answer(nil))) }
        do throws(HostError) {
            let (slot, list) = try self.list(
                nil, in: scope,
                ListMode(isInside: false, isSearching: search?.isEmpty == false))
            // Not counted for a source that is asked: the list has only what it has answered lately.
            isCounted = !slot.asks
            let query = IndexQuery(
                sections: sections.map(\.query), search: search, limit: 0, countsFacets: isCounted)
            if let wait {
                guard !list.isLong(query), let page = try list.answer(query) else { return wait() }
                return reply(.success(answer(page)))
            }
            prepare(query, in: list, of: slot) { [self] result in
                // The component may have been made anew meanwhile.
                guard self.slot(slot.name)?.list === list else {
                    return count(sections, in: scope, search: search, reply)
                }
                reply(result.map { answer($0.answer().map(list.page)) })
            }
        } catch {
            reply(.failure(error))
        }
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
        let ask = ask ?? { $0.ask($1, by: user, $2) }
        let asked = only.map { [$0] } ?? slots.filter { $0.kind == .filters }
        // The offers are also needed to find which of several components has a section, and whether a section takes
        // several filters.
        let needsOffers = asked.count > 1 || selection.sections.values.contains { $0.count > 1 }
        resolve(
            FilterResolution(selection: selection, offers: offers || needsOffers, ask: ask),
            asking: asked
        ) { [self] result in
            do throws(HostError) {
                var done = try result.get()
                done.sections = limited(dated(done.sections))
                if let section = done.unresolved.first {
                    throw .filterNotFound(
                        section: section, filter: selection[section].first ?? "",
                        known: done.sections.map(\.section.id))
                }
                if let problem = done.crowding { throw problem }
                if offers { try domain.limits.check(counted: done.unoffered) }
                then(
                    .success(
                        offers ? done.sections : done.sections.filter { !$0.selected.isEmpty }))
            } catch {
                then(.failure(error))
            }
        }
    }

    private func resolve(
        _ resolution: FilterResolution, asking slots: [Slot],
        then: @escaping Answer<FilterResolution>
    ) {
        guard let slot = slots.first else { return then(.success(resolution)) }
        let rest = Array(slots.dropFirst())
        report(to: slot) { [self] in
            guard resolution.offers else {
                return resolveSelected(resolution, [], slot, asking: rest, then: then)
            }
            resolution.ask(slot, .sections) { [self] result in
                switch result {
                case .success(.sections(let sections)):
                    resolveSelected(resolution, sections, slot, asking: rest, then: then)
                case .success: then(.failure(slot.unavailable("It answered something else.")))
                case .failure(let error): then(.failure(error))
                }
            }
        }
    }

    private func resolveSelected(
        _ resolution: FilterResolution, _ sections: [FilterSection], _ slot: Slot,
        asking rest: [Slot], then: @escaping Answer<FilterResolution>
    ) {
        let ids = resolution.wanted(of: resolution.offers ? sections.map(\.id) : nil)
        guard !ids.isEmpty else {
            var resolution = resolution
            resolution.add(sections, [], [])
            return resolve(resolution, asking: rest, then: then)
        }
        resolution.ask(slot, .filters(ids)) { [self] result in
            switch result {
            case .success(.filters(let filters)):
                var resolution = resolution
                resolution.add(sections, ids, filters)
                resolve(resolution, asking: rest, then: then)
            case .success: then(.failure(slot.unavailable("It answered something else.")))
            case .failure(let error): explain(error, slot, then)
            }
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

/// The state of looking up a selection.
struct FilterResolution {
    /// Asks a component a query.
    typealias Ask = (Slot, ComponentQuery, @escaping Answer<ComponentAnswer>) -> Void

    var offers: Bool
    let ask: Ask
    var sections: [ResolvedSection] = []
    private var selection: Selection

    init(selection: Selection, offers: Bool, ask: @escaping Ask) {
        self.selection = selection
        self.offers = offers
        self.ask = ask
    }

    /// The ids of selected sections that no component has, sorted.
    var unresolved: [String] { selection.sections.keys.sorted() }

    /// The error if several filters are selected in a section that is `single`; nil otherwise.
    var crowding: HostError? {
        let crowded = sections.first { $0.section.input == .single && $0.selected.count > 1 }
        return crowded.map { crowded in
            .filterNotFound(
                section: crowded.section.id, filter: crowded.selected[1].id,
                known: [crowded.selected[0].id],
                reason: "The section '\(crowded.section.id)' takes one filter at a time, and "
                    + "'\(crowded.selected[0].id)' is selected: leave one of both out.")
        }
    }

    /// The number of selected filters that are not on offer but have to be counted.
    var unoffered: Int {
        sections.reduce(0) { count, resolved in
            let others = resolved.filters.dropFirst(resolved.section.filters.count)
            return count + others.count { !$0.predicate.isListed }
        }
    }

    /// The filters to ask a component for; `own` are the ids of its sections, nil if it is asked for all.
    func wanted(of own: [String]?) -> [ComponentQuery.FilterID] {
        selection.sections.keys.sorted().filter { own?.contains($0) ?? true }.flatMap { section in
            selection[section].map { ComponentQuery.FilterID(section: section, filter: $0) }
        }
    }

    /// Adds a component's answers: the sections on offer in their order, then the other selected ones.
    mutating func add(
        _ offered: [FilterSection], _ ids: [ComponentQuery.FilterID], _ filters: [Filter]
    ) {
        var found: [String: [Filter]] = [:]
        var known: Set<ComponentQuery.FilterID> = []
        for (id, filter) in zip(ids, filters)
        where known.insert(.init(section: id.section, filter: filter.id)).inserted {
            // The same filter may be selected in two spellings.
            found[id.section, default: []].append(filter)
        }
        for section in offered {
            sections.append(
                ResolvedSection(section: section, selected: found[section.id] ?? []))
        }
        for section in found.keys.sorted() {
            selection[section] = []
            guard !offered.contains(where: { $0.id == section }) else { continue }
            let bare = FilterSection(id: section, title: section, input: .several, filters: [])
            sections.append(ResolvedSection(section: bare, selected: found[section] ?? []))
        }
    }
}
