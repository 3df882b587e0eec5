import AtriumKit
import Index

// Finding components and their items.
extension Container {
    func slot(_ name: String) -> Slot? { slots.first { $0.name == name } }

    /// Whether the container has a component or a part of this name.
    func hasComponent(_ name: String) -> Bool {
        slot(name) != nil || parts.contains { $0.name == name }
    }

    func first(_ kind: Kind) -> Slot? {
        // By index, which counts no reference of those that it is not.
        slots.indices.first { slots[$0].kind == kind }.map { slots[$0] }
    }

    /// The component that a call names, or the first of the kind that it needs.
    func slot(_ name: String?, _ kind: Kind) throws(HostError) -> Slot {
        if let name {
            guard let slot = slot(name), slot.kind == kind || slot.kind == nil else {
                throw .componentNotFound(container: self.name, component: name)
            }
            return slot
        }
        guard let slot = first(kind) else {
            throw .componentNotFound(container: self.name, component: kind.rawValue)
        }
        return slot
    }

    /// The list that a call names, or the first.
    func list(_ name: String?) throws(HostError) -> (slot: Slot, list: ContentIndex) {
        let slot = try slot(name, .contents)
        if case .failed(let reason) = slot.state { throw slot.failed(reason) }
        // A component that is being restarted still has its earlier list.
        try slot.checkShown()
        guard let list = slot.list else { throw slot.unavailable("It has no list.") }
        return (slot, list)
    }

    /// Whether any list has the item.
    func has(_ item: String) -> Bool {
        slots.indices.contains { slots[$0].own.lists(item) }
    }

    /// The item with an id, from the list that calls find it in; a component may ask for it.
    func item(_ id: String) -> Item? {
        guard let row = source(of: id, among: slots)?.list?.item(id) else { return nil }
        let fields = (try? Value(jsonBytes: row.fields))?.object
        return Item(id: row.id, fields: fields ?? [:], parent: row.parent)
    }

    /// Throws unless the item that a vote or a comment is about exists.
    ///
    /// Swift compares ids by canonical equivalence, and the store compares keys by their bytes. So an id that is not
    /// in NFC is treated as unknown; otherwise one ballot could have two records.
    func check(_ item: String?) throws(HostError) {
        guard let item, !has(item) || !ItemID.isNormal(item) else { return }
        // It may be in a list that is not known yet.
        for slot in slots where slot.kind == .contents { try slot.checkShown() }
        throw .itemNotFound(container: name, item: item)
    }

    /// The error that ``check(_:)`` throws; nil if it throws none.
    func absence(of item: String?) -> HostError? {
        do throws(HostError) {
            try check(item)
            return nil
        } catch {
            return error
        }
    }

    /// The number of items in all lists.
    var itemCount: Int { slots.reduce(0) { $0 + ($1.list?.count ?? 0) } }
}

// MARK: Scopes: which lists a screen shows, and which delegate is called

extension Container {
    /// The scope of a name; the first one if there is none of that name, nil if there are no scopes.
    func scope(_ name: String?) -> ScopeDefinition? {
        name.flatMap { definition.scope($0) } ?? definition.scopes.first
    }

    /// Which lists screens in a scope show in each mode; nil: all of them, in all modes.
    func modes(in scope: ScopeDefinition?) -> ListModes? { scope?.lists ?? definition.lists }

    /// The components that a scope shows in a mode, in its order.
    ///
    /// The scope's lists are put into the places that these lists have in the container, in the scope's order.
    func slots(in scope: ScopeDefinition?, _ mode: ListMode) -> [Slot] {
        places(in: scope, mode).compactMap(\.self)
    }

    /// For each of ``slots`` what a scope shows in its place in a mode; nil: nothing.
    func places(in scope: ScopeDefinition?, _ mode: ListMode) -> [Slot?] {
        guard let shown = modes(in: scope)?.shown(mode) else { return slots }
        var lists = shown.compactMap { slot($0) }[...]
        return slots.map { slot in
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
        let shown = modes(in: scope)?.all.compactMap { slot($0) } ?? slots
        return shown.filter { $0.kind == .contents }
    }

    /// The list that a call names, checked against its scope, or the first that a screen would show in a mode.
    func list(
        _ name: String?, in scope: String?, _ mode: ListMode
    ) throws(HostError) -> (slot: Slot, list: ContentIndex) {
        let named = scope.flatMap { definition.scope($0) }
        if let scope {
            guard let all = named?.lists.all else { throw scopeNotFound(scope) }
            if let name, !all.contains(name) {
                throw .componentNotInScope(component: name, scope: scope, shown: all)
            }
        }
        let shown = modes(in: named)?.shown(mode) ?? []
        let known = shown.compactMap { slot($0) }
        let first = known.first { !$0.definition.isHidden } ?? known.first
        return try list(name ?? first?.name ?? shown.first)
    }

    func scopeNotFound(_ name: String) -> HostError {
        .scopeNotFound(name, known: definition.scopes.map(\.name))
    }

    /// The delegate for what happens in a scope; nil: in the first scope, or in a container without scopes.
    ///
    /// - Returns: the delegate; fails while it can't be made.
    func delegate(in scope: String?) -> Result<ContainerDelegate, HostError> {
        delegates.delegate(in: self.scope(scope)?.name)
    }
}

// MARK: The place of items among others

extension Container {
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
    /// The scope of this name.
    func scope(_ name: String) -> ScopeDefinition? { scopes.first { $0.name == name } }
}
