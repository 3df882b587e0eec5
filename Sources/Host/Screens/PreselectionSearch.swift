import AtriumKit
import Index

/// Finds the selection of a screen or a part that is opened without one: what its filters components preselect, as far
/// as it can be selected.
///
/// The user did not choose these filters, so one that can't be selected is no reason to refuse the screen. It is left
/// out, and the status of the component that preselects it has the reason.
final class PreselectionSearch {
    private typealias FilterID = ComponentQuery.FilterID

    /// The filters that a component preselects and that are left out.
    private struct LeftOut {
        /// The first of them, and why.
        let first: String
        var count = 1

        /// The problem of the component, as the continuation of "It".
        var problem: String {
            count == 1 ? first : "\(first) \(count) are left out in all."
        }
    }

    private let screens: ContainerScreens
    private let limits: HostLimits
    private let done: (Selection) -> Void
    /// The components that are still to be asked.
    private var slots: ArraySlice<Slot>
    /// The preselected filters of the sections that no component has offered so far.
    private var wanted: [String: (slot: Slot, filters: [String])] = [:]
    private var found = Selection()
    private var leftOut: [ObjectIdentifier: LeftOut] = [:]
    /// The components that did not say which sections they offer.
    private var silent: Set<ObjectIdentifier> = []
    /// The filters of which nothing is known, because their component does not answer.
    private var unknown: Set<FilterID> = []
    /// The number and bytes of the filters that were looked up, and the number of those whose items are counted.
    private var count = 0
    private var bytes = 0
    private var counted = 0

    init(on screens: ContainerScreens, _ done: @escaping (Selection) -> Void) {
        self.screens = screens
        self.done = done
        limits = screens.domain.limits
        slots = screens.container.filters.slots[...]
        for slot in slots where slot.isAttached {
            for (section, filters) in slot.port?.preselection.sections ?? [:]
            where !filters.isEmpty {
                wanted[section] = (slot, filters)
            }
        }
    }

    /// Asks the next component, or ends.
    func run() {
        guard !wanted.isEmpty, let slot = slots.popFirst() else { return end() }
        guard slot.isAttached else { return run() }
        screens.container.filters.report(to: slot) { [self] in
            screens.answers.ask(slot, .sections) { [self] result in
                guard case .success(.sections(let sections)) = result else {
                    // Nothing is known of its filters: the screen is refused for this reason, and not shown without them.
                    silent.insert(ObjectIdentifier(slot))
                    for (section, entry) in wanted where entry.slot === slot {
                        found[section] = entry.filters
                    }
                    wanted = wanted.filter { $0.value.slot !== slot }
                    return run()
                }
                let offered = sections.filter { wanted[$0.id] != nil }
                select(in: offered[...], of: slot)
            }
        }
    }

    /// Selects what is preselected in these sections of a component, one section after the other.
    private func select(in sections: ArraySlice<FilterSection>, of slot: Slot) {
        guard let section = sections.first else { return run() }
        let rest = sections.dropFirst()
        guard let (origin, filters) = wanted.removeValue(forKey: section.id) else {
            return select(in: rest, of: slot)
        }
        var known: [String: Filter] = [:]
        for filter in section.filters { known[filter.id] = filter }
        let ids = admitted(filters, in: section.id, of: origin)
        let others = ids.filter { known[$0] == nil }.map {
            FilterID(section: section.id, filter: $0)
        }
        find(others, of: slot) { [self] filters, reasons in
            for (id, filter) in filters { known[id] = filter }
            add(ids, among: known, of: section, reasons, for: origin)
            select(in: rest, of: slot)
        }
    }

    /// Finds filters that are not on offer; `done` gets those that exist, and why others do not, by id.
    private func find(
        _ ids: [FilterID], of slot: Slot,
        _ done: @escaping ([String: Filter], [String: String]) -> Void
    ) {
        guard let first = ids.first else { return done([:], [:]) }
        screens.answers.ask(slot, .filters(ids)) { [self] result in
            switch result {
            case .success(.filters(let filters)) where filters.count == ids.count:
                let pairs = zip(ids.lazy.map(\.filter), filters)
                return done(Dictionary(pairs) { first, _ in first }, [:])
            case .failure(.componentFailed), .failure(.componentUnavailable),
                .failure(.storeUnavailable):
                // It says nothing of the filters: they stay selected, and the screen is refused for this reason.
                unknown.formUnion(ids)
                silent.insert(ObjectIdentifier(slot))
                return done([:], [:])
            case .failure(.filterNotFound) where ids.count > 1: break
            case .failure(let error):
                // Not halved: what refused these calls may have ended workers.
                let reasons = ids.map { ($0.filter, error.plainSentence) }
                return done([:], Dictionary(reasons) { first, _ in first })
            case .success: return done([:], [first.filter: "Its component did not answer."])
            }
            // One of them is why all were refused.
            let half = ids.count / 2
            find(Array(ids[..<half]), of: slot) { [self] some, reasons in
                find(Array(ids[half...]), of: slot) { others, otherReasons in
                    done(
                        some.merging(others) { first, _ in first },
                        reasons.merging(otherReasons) { first, _ in first })
                }
            }
        }
    }

    /// Adds the filters that exist to the selection.
    private func add(
        _ ids: [String], among known: [String: Filter], of section: FilterSection,
        _ reasons: [String: String], for origin: Slot
    ) {
        let offered = Set(section.filters.map(\.id))
        var selected: [String] = []
        for id in ids {
            guard let filter = known[id] else {
                if unknown.contains(FilterID(section: section.id, filter: id)) {
                    selected.append(id)
                } else {
                    leaveOut(id, section.id, of: origin, reasons[id] ?? "There is no such filter.")
                }
                continue
            }
            if section.input == .single, let other = selected.first {
                leaveOut(
                    id, section.id, of: origin,
                    "The section takes one filter at a time, and '\(other)' is selected.")
                continue
            }
            let isCounted = !offered.contains(filter.id) && !filter.predicate.isListed
            guard !isCounted || counted < limits.countedFilters else {
                leaveOut(
                    id, section.id, of: origin,
                    "At most \(limits.countedFilters) texts and ranges are selected "
                        + "(limits.countedFilters).")
                continue
            }
            if isCounted { counted += 1 }
            selected.append(id)
        }
        found[section.id] = selected
    }

    /// Those of a section's filters that are within the limits of a selection, each once.
    private func admitted(_ filters: [String], in section: String, of origin: Slot) -> [String] {
        var seen: Set<String> = []
        var ids: [String] = []
        for id in filters where seen.insert(id).inserted {
            let size = id.utf8.count + (ids.isEmpty ? section.utf8.count : 0)
            let problem: String? =
                if id.utf8.count > limits.filterBytes {
                    "Its id has \(id.utf8.count) bytes, where \(limits.filterBytes) are allowed "
                        + "(limits.filterBytes)."
                } else if count >= limits.selectedFilters {
                    "At most \(limits.selectedFilters) filters are selected (limits.selectedFilters)."
                } else if bytes + size > limits.selectionBytes {
                    "A selection has at most \(limits.selectionBytes) bytes (limits.selectionBytes)."
                } else {
                    nil
                }
            if let problem {
                leaveOut(id, section, of: origin, problem)
                continue
            }
            count += 1
            bytes += size
            ids.append(id)
        }
        return ids
    }

    private func leaveOut(_ id: String, _ section: String, of slot: Slot, _ reason: String) {
        let key = ObjectIdentifier(slot)
        guard leftOut[key] == nil else {
            leftOut[key]?.count += 1
            return
        }
        let names = "the filter '\(id.prefix(100))' of '\(section.prefix(100))'"
        leftOut[key] = LeftOut(first: "preselects \(names), which is left out: \(reason)")
    }

    private func end() {
        for (section, (slot, filters)) in wanted.sorted(by: { $0.key < $1.key }) {
            for id in filters { leaveOut(id, section, of: slot, "There is no such section.") }
        }
        for slot in screens.container.filters.slots where slot.isAttached {
            let key = ObjectIdentifier(slot)
            let problem = leftOut[key]?.problem
            guard !silent.contains(key), slot.own.filters?.leaveOut(problem) == true else {
                continue
            }
            screens.domain.timers.later { [weak slot] in slot?.container?.structureChanged() }
        }
        done(found)
    }
}
