import AtriumKit
import Index

/// Looks up the filters of a selection, and those on offer, of one filters component after the other.
final class FilterResolution {
    typealias Ask = (Slot, ComponentQuery, @escaping Answer<ComponentAnswer>) -> Void

    private let container: Container
    /// The selected filters that no component has had so far.
    private var selection: Selection
    /// Whether the caller wants all sections with their offers; otherwise only those with selected filters.
    private let offers: Bool
    /// Whether components are asked for their offers, also to find out which of several has a section, and whether it
    /// takes several filters.
    private let asksOffers: Bool
    private let ask: Ask
    private let done: Answer<[ResolvedSection]>
    private var slots: ArraySlice<Slot>
    private var sections: [ResolvedSection] = []

    init(
        _ selection: Selection, offers: Bool, of slots: [Slot], in container: Container,
        asking ask: @escaping Ask, _ done: @escaping Answer<[ResolvedSection]>
    ) {
        self.selection = selection
        self.offers = offers
        self.slots = slots[...]
        self.container = container
        self.ask = ask
        self.done = done
        asksOffers =
            offers || slots.count > 1 || selection.sections.values.contains { $0.count > 1 }
    }

    /// Asks the next component, or ends.
    func run() {
        guard let slot = slots.popFirst() else { return end() }
        container.filters.report(to: slot) {
            guard self.asksOffers else { return self.askSelected(slot, []) }
            self.ask(slot, .sections) { result in
                switch result {
                case .success(.sections(let sections)):
                    self.container.filters.record(sections, of: slot)
                    self.askSelected(slot, sections)
                case .success: self.fail(.wrongAnswer(of: slot.name))
                case .failure(let error): self.fail(error)
                }
            }
        }
    }

    /// Finds the selected filters of a component's sections: on offer, or by asking the component.
    private func askSelected(_ slot: Slot, _ offered: [FilterSection]) {
        let ids = wanted(of: asksOffers ? offered.map(\.id) : nil)
        let found = filters(ids, among: offered)
        let others = ids.filter { found[$0] == nil }
        guard !others.isEmpty else {
            add(offered, ids, ids.compactMap { found[$0] })
            return run()
        }
        ask(slot, .filters(others)) { result in
            switch result {
            case .success(.filters(let filters)):
                var rest = filters[...]
                self.add(offered, ids, ids.compactMap { found[$0] ?? rest.popFirst() })
                self.run()
            case .success: self.fail(.wrongAnswer(of: slot.name))
            case .failure(let error): self.container.filters.explain(error, slot, self.done)
            }
        }
    }

    private func end() {
        sections = limited(container.dates.fill(sections))
        do throws(HostError) {
            if let section = selection.sections.keys.min() {
                throw .filterNotFound(
                    section: section, filter: selection[section].first ?? "",
                    known: sections.map(\.section.id))
            }
            if let crowding { throw crowding }
            if offers { try container.domain.limits.check(counted: unoffered) }
            done(.success(offers ? sections : sections.filter { !$0.selected.isEmpty }))
        } catch {
            fail(error)
        }
    }

    /// Limits the filters that each section sends, to the first that its component offers and the selected ones.
    private func limited(_ sections: [ResolvedSection]) -> [ResolvedSection] {
        let limit = container.domain.limits.facetValues
        return sections.map { resolved in
            var resolved = resolved
            let offered = resolved.section.filters.count
            if offered > limit {
                resolved.unsent = Array(resolved.section.filters[limit...])
                resolved.section.filters.removeLast(offered - limit)
                resolved.rest = offered - limit
            } else if resolved.section.hasMore, let field = resolved.section.field {
                // The count of when the values were last sent to the component; changes since then are not included.
                let counts = container.slots.lazy.compactMap { $0.own.filters?.valueCounts[field] }
                if let count = counts.first, count > offered { resolved.rest = count - offered }
            }
            resolved.section.hasMore = resolved.section.hasMore || offered > limit
            return resolved
        }
    }

    private func fail(_ error: HostError) { done(.failure(error)) }

    /// The error if several filters are selected in a section that is `single`; nil otherwise.
    private var crowding: HostError? {
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
    private var unoffered: Int {
        sections.reduce(0) { count, resolved in
            let others = resolved.filters.dropFirst(resolved.section.filters.count)
            return count + others.count { !$0.predicate.isListed }
        }
    }

    /// Those of these filters that are on offer.
    private func filters(
        _ ids: [ComponentQuery.FilterID], among offered: [FilterSection]
    ) -> [ComponentQuery.FilterID: Filter] {
        var found: [ComponentQuery.FilterID: Filter] = [:]
        let ids = Set(ids)
        for section in offered where !selection[section.id].isEmpty {
            for filter in section.filters {
                let id = ComponentQuery.FilterID(section: section.id, filter: filter.id)
                if ids.contains(id) { found[id] = filter }
            }
        }
        return found
    }

    /// The selected filters of a component; `own` are the ids of its sections, nil if it is asked for all.
    private func wanted(of own: [String]?) -> [ComponentQuery.FilterID] {
        selection.sections.keys.sorted().filter { own?.contains($0) ?? true }.flatMap { section in
            selection[section].map { ComponentQuery.FilterID(section: section, filter: $0) }
        }
    }

    /// Adds a component's answers: the sections on offer in their order, then the other selected ones.
    private func add(
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

/// Answers of filters components, shared by all views with the same question.
///
/// Answers are kept only while all views are updated. Views that are shown later ask again, because a component may
/// offer something else without new values from the host.
final class SharedAnswers {
    private struct Key: Hashable {
        var component: ObjectIdentifier
        /// The version of the values that the component received before the question.
        var values: UInt64?
        var query: ComponentQuery
    }

    /// The most answers that are kept; selections of single views are not worth keeping.
    private static let most = 256

    private let domain: Domain
    /// Whether views are being updated, so that answers are kept.
    private let isUpdating: () -> Bool
    private var known: [Key: ComponentAnswer] = [:]
    private var waiting: [Key: [(Result<ComponentAnswer, HostError>) -> Void]] = [:]

    init(in domain: Domain, whileUpdating isUpdating: @escaping () -> Bool) {
        self.domain = domain
        self.isUpdating = isUpdating
    }

    /// Asks a filters component for a view; views with the same question share one answer.
    func ask(_ slot: Slot, _ query: ComponentQuery, _ done: @escaping Answer<ComponentAnswer>) {
        let key = Key(
            component: ObjectIdentifier(slot), values: slot.own.filters?.reported, query: query)
        if let known = known[key] { return done(.success(known)) }
        waiting[key, default: []].append(done)
        guard waiting[key]?.count == 1 else { return }
        slot.requests.ask(query, for: slot, isOfScreen: true) { [self] in handle($0, for: key) }
    }

    /// Takes an answer, and passes it to all who wait for it.
    private func handle(_ answer: Result<ComponentAnswer, HostError>, for key: Key) {
        if isUpdating(), case .success(let answer) = answer {
            if known.count >= Self.most { known.removeAll() }
            known[key] = answer
        }
        let waiting = waiting.removeValue(forKey: key) ?? []
        // In slices, because each view then asks for its selection: thousands would be one long turn.
        domain.slices.run(waiting.map { done in { done(answer) } })
    }

    /// Drops the answers after the views were updated.
    func clear() { known.removeAll() }
}

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
