public import AtriumKit
import Index

extension Container {
    /// The filters of the container, and the predicates that they stand for.
    public var filters: ContainerFilters { ContainerFilters(container: self) }
}

/// The filters of a container: reading them with counts, resolving selections, and sending their components the field
/// values that they are made of.
public struct ContainerFilters {
    let container: Container

    private var domain: Domain { container.domain }

    /// The filters components.
    var slots: [Slot] { container.slots.filter { $0.kind == .filters } }

    /// Reads all sections, with the number of items of the first list that each filter would show.
    ///
    /// - Parameters:
    ///   - component: the filters component; nil: all.
    ///   - scope: the scope whose first list is counted; nil: the container's.
    ///   - selection: the selected filters; those of a section do not affect its own counts.
    ///   - search: text that items must contain; nil: any.
    ///   - page: requests a page of one section's filters; nil: all sections.
    ///   - user: whose call it is.
    ///   - actor: for whom it is; long queries of different actors take turns. nil: the user.
    ///   - isAwaited: asked while the call waits for its turn, and between the steps of long work; once it returns
    ///     false the call is dropped, and may not be replied to.
    ///   - reply: the sections; fails with `filterNotFound`, `scopeNotFound`, `parameterInvalid` or `refused`.
    public func list(
        _ component: String?, in scope: String?, _ selection: Selection, search: String?,
        page: SectionPage? = nil, by user: String, for actor: String? = nil,
        while isAwaited: @escaping () -> Bool = { true }, _ reply: @escaping Answer<FiltersPage>
    ) {
        FiltersCall(
            FiltersCall.Request(
                component: component, scope: scope, selection: selection, search: search,
                page: page, user: user, actor: actor, isAwaited: isAwaited), of: container, reply
        ).run()
    }

    /// Looks up the selected filters of one filters component or all, and those on offer if `offers`; screens share
    /// answers by `ask`, other calls ask by themselves.
    func resolve(
        _ selection: Selection, offers: Bool, only: Slot? = nil, by user: String = "",
        asking ask: FilterResolution.Ask? = nil,
        then: @escaping Answer<[ResolvedSection]>
    ) {
        guard offers || !selection.isEmpty else { return then(.success([])) }
        FilterResolution(
            selection, offers: offers,
            of: only.map { [$0] } ?? slots, in: container,
            asking: ask ?? { $0.requests.ask($1, for: $0, by: user, $2) }, then
        ).run()
    }

    /// Adds the known filters or sections to the error of a filter that was not found.
    func explain<T>(_ error: HostError, _ slot: Slot, _ then: @escaping Answer<T>) {
        guard case .filterNotFound(let section, let filter, _, let reason) = error else {
            return then(.failure(error))
        }
        slot.requests.ask(.sections, for: slot) { result in
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

    /// Finds out which sections a component offers, or all do; `done` is called with their ids, nil if a component
    /// can't say.
    func sectionIDs(of slot: Slot? = nil, _ done: @escaping ([String]?) -> Void) {
        askSections(of: slot.map { [$0] } ?? slots[...], [], done)
    }

    private func askSections(
        of slots: ArraySlice<Slot>, _ known: [String], _ done: @escaping ([String]?) -> Void
    ) {
        guard let slot = slots.first else { return done(known) }
        // Some components have sections only once they have values.
        report(to: slot) {
            slot.requests.ask(.sections, for: slot) { result in
                guard case .success(.sections(let sections)) = result else { return done(nil) }
                record(sections, of: slot)
                askSections(of: slots.dropFirst(), known + sections.map(\.id), done)
            }
        }
    }

    /// Records which sections a component offers: parts may follow one that is not there.
    func record(_ sections: [FilterSection], of slot: Slot) {
        if slot.own.filters?.offered(sections) == true { domain.changes.schedule() }
    }

    /// The ids of the sections, as far as they were asked for; nil: a component may have others.
    var knownSections: [String]? {
        let known = slots.map { $0.isAttached ? $0.own.filters?.sections ?? [] : [] }
        return known.contains(where: \.isEmpty) ? nil : known.flatMap(\.self)
    }

    /// The selection of a screen that is opened without one.
    var preselection: Selection {
        var selection = Selection()
        for slot in slots where slot.isAttached {
            for (section, filters) in slot.port?.preselection.sections ?? [:] {
                selection[section] = filters
            }
        }
        return selection
    }
}

// MARK: Field values

extension ContainerFilters {
    /// Sends a filters component the values of the fields that it observes, if they have changed, synchronously if no
    /// search is necessary.
    func report(to slot: Slot, then done: @escaping () -> Void) {
        guard slot.isAttached, let port = slot.port, let filters = slot.own.filters,
            !port.observedFields.isEmpty
        else { return done() }
        let (lists, limit) = (container.contents.lists, domain.limits.facetValues)
        let version = valuesVersion(of: port.observedFields)
        guard filters.reported != version, filters.losses.mayReport(version, at: domain.now())
        else { return done() }
        guard filters.whenReported(done) else { return }
        var searches = port.observedFields.flatMap { field in
            lists.compactMap { $0.values.search(of: field, atMost: limit) }
        }
        guard !searches.isEmpty else { return reportFound(to: slot) }
        domain.slices.run {
            if searches.last?.step() == false { searches.removeLast() }
            return !searches.isEmpty
        } then: {
            reportFound(to: slot)
        }
    }

    /// Sends a filters component the values that were found, and runs what waits for that.
    private func reportFound(to slot: Slot) {
        if slot.isAttached, let port = slot.port { report(to: slot, port) }
        domain.slices.run(slot.own.filters?.takeWaiting() ?? [])
    }

    private func report(to slot: Slot, _ port: any ComponentPort) {
        let (lists, limit) = (container.contents.lists, domain.limits.facetValues)
        var counts: [String: Int] = [:]
        for field in port.observedFields {
            let all = lists.map { $0.values.count(of: field) }.filter { $0 > 0 }
            // Two lists may have values in common, so their counts can't be added.
            if all.count == 1 { counts[field] = all[0] }
        }
        slot.own.filters?.report(valuesVersion(of: port.observedFields), counts: counts)
        var values: [String: [Value]] = [:]
        var cut: Set<String> = []
        for field in port.observedFields {
            let found = lists.distinctValues(of: field, atMost: limit)
            values[field] = found.values
            if found.isCut || lists.contains(where: { $0.values.count(of: field) > limit }) {
                cut.insert(field)
            }
        }
        port.report(values, cut: cut) { [weak slot, weak port] in
            guard let slot, let port, slot.port === port else { return }
            let hadLosses = slot.own.filters?.forgetLosses() ?? false
            if hadLosses { slot.container?.structureChanged() }
        }
    }

    private func valuesVersion(of fields: [String]) -> UInt64 {
        let (lists, limit) = (container.contents.lists, domain.limits.facetValues)
        return lists.reduce(UInt64(lists.count &* 31 &+ limit)) {
            $0 &* 31 &+ $1.values.version(of: fields, atMost: limit)
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

extension [ContentIndex] {
    /// The distinct values of a field in all lists, sorted, and whether there are more than `limit`.
    ///
    /// If there are more, those of the first lists are returned.
    func distinctValues(
        of field: String, atMost limit: Int
    ) -> (values: [Value], isCut: Bool) {
        let found = map { $0.values.distinct(of: field, atMost: limit) }.filter { !$0.isEmpty }
        guard found.count > 1 else { return (found.first ?? [], false) }
        var seen: Set<Value> = []
        let values = found.joined().filter { seen.insert($0).inserted }
        let some = [Value](values.prefix(limit))
        return (first?.values.sorted(some, of: field) ?? some, values.count > limit)
    }
}
