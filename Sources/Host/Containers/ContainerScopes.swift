import AtriumKit
import Index

extension Container {
    /// The scopes, and which lists screens show in them.
    var scopes: ContainerScopes { ContainerScopes(container: self) }
}

/// The scopes of a container: which lists screens show in them in each mode, and where items are in these.
struct ContainerScopes {
    let container: Container

    /// The scope of a name; the first one if there is none of that name, nil if there are no scopes.
    subscript(name: String?) -> ScopeDefinition? {
        name.flatMap { container.definition.scope($0) } ?? container.definition.scopes.first
    }

    /// Throws `scopeNotFound` unless there is the scope that a caller names, if it names one.
    func check(_ name: String?) throws(HostError) {
        guard let name, container.definition.scope(name) == nil else { return }
        throw .scopeNotFound(name, known: container.definition.scopes.map(\.name))
    }

    /// Which lists screens in a scope show in each mode; nil: all of them, in all modes.
    func modes(in scope: ScopeDefinition?) -> ListModes? {
        scope?.lists ?? container.definition.lists
    }

    /// The components that a scope shows in a mode, in its order.
    ///
    /// The scope's lists are put into the places that these lists have in the container, in the scope's order.
    func slots(in scope: ScopeDefinition?, _ mode: ListMode) -> [Slot] {
        places(in: scope, mode).compactMap(\.self)
    }

    /// For each of the container's slots what a scope shows in its place in a mode; nil: nothing.
    func places(in scope: ScopeDefinition?, _ mode: ListMode) -> [Slot?] {
        guard let shown = modes(in: scope)?.shown(mode) else { return container.slots }
        var lists = shown.compactMap { container.slot($0) }[...]
        return container.slots.map { slot in
            if shown.contains(slot.name) { return lists.popFirst() }
            return slot.kind == .contents ? nil : slot
        }
    }

    /// The lists that a screen in a scope shows in a mode.
    func lists(in scope: ScopeDefinition?, _ mode: ListMode) -> [Slot] {
        slots(in: scope, mode).filter { $0.kind == .contents }
    }

    /// The lists that a screen in a scope can show, in any mode.
    func lists(in scope: ScopeDefinition?) -> [Slot] {
        let shown = modes(in: scope)?.all.compactMap { container.slot($0) } ?? container.slots
        return shown.filter { $0.kind == .contents }
    }

    /// The list that a call names, checked against its scope, or the first that a screen would show in a mode.
    func list(
        _ name: String?, in scope: String?, _ mode: ListMode
    ) throws(HostError) -> (slot: Slot, list: ContentIndex) {
        try check(scope)
        let named = scope.flatMap { container.definition.scope($0) }
        if let scope, let name, let shown = named?.lists.all, !shown.contains(name) {
            throw .componentNotInScope(component: name, scope: scope, shown: shown)
        }
        let shown = modes(in: named)?.shown(mode) ?? []
        let known = shown.compactMap { container.slot($0) }
        let first = known.first { !$0.definition.isHidden } ?? known.first
        return try container.list(name ?? first?.name ?? shown.first)
    }

    // MARK: The place of items among others

    /// The list that has an item; a shown one is preferred to a hidden one.
    func source(of item: String, among lists: [Slot]) -> Slot? {
        let sources = lists.filter { $0.list?.contains(item) ?? false }
        return sources.first { !$0.definition.isHidden } ?? sources.first
    }

    /// The path to an item: its ancestors, outermost first, as far as they exist, then the item itself.
    ///
    /// If a scope has lists by mode, a parent may be in any of them; otherwise it is in the item's own list.
    ///
    /// - Parameters:
    ///   - item: the item.
    ///   - slot: the slot of its list.
    ///   - lists: the lists to find parents in; nil: the item's own list.
    ///   - limit: the maximum number of items.
    /// - Returns: the items, with the lists that have them; the item alone if its ancestors form a cycle.
    func path(
        to item: String, of slot: Slot, among lists: [Slot]?, limit: Int
    ) -> [(slot: Slot, item: String)] {
        guard let lists else {
            return (slot.list?.tree.way(to: item, limit: limit) ?? []).map { (slot, $0) }
        }
        var way: [(slot: Slot, item: String)] = []
        var next: (slot: Slot, item: String)? = (slot, item)
        while let (slot, item) = next, way.count < limit {
            // A cycle of parents has no outermost item: the way back leads to the top.
            guard !way.contains(where: { $0.item == item }) else { return [way[0]] }
            way.append((slot, item))
            next = slot.list?.tree.parent(of: item).flatMap { parent in
                source(of: parent, among: lists).map { ($0, parent) }
            }
        }
        return way.reversed()
    }
}

extension ContainerDefinition {
    func scope(_ name: String) -> ScopeDefinition? { scopes.first { $0.name == name } }
}
