import AtriumKit
import Index
import PluginLoader

// Scopes: which lists a screen shows, and which delegate is called.
extension ContainerDefinition {
    /// The scope of this name.
    func scope(_ name: String) -> ScopeDefinition? { scopes.first { $0.name == name } }

    /// Why the scopes can't be applied; nil if they can.
    ///
    /// - Parameters:
    ///   - domain: has the plugins, which determine the components' kinds.
    ///   - isWritten: whether this is a definition's file, which must name existing components. A container may still
    ///     name one that was detached by hand.
    /// - Returns: the place of the problem, and what to do.
    func scopeProblem(_ domain: Domain, isWritten: Bool) -> String? {
        // A scope for each component is enough.
        let limit = domain.limits.components
        guard scopes.count <= limit else {
            return "There are \(scopes.count) scopes, and a container has at most \(limit)."
        }
        for (place, scope) in scopes.enumerated() {
            let path = "scopes[\(place)]"
            guard Names.isName(scope.name) else {
                return "\(path): the name '\(scope.name)' is not of the form \(Self.nameRule)."
            }
            if scopes[..<place].contains(where: { $0.name == scope.name }) {
                return "\(path): there are two scopes named '\(scope.name)'."
            }
            guard !scope.lists.contents.isEmpty else {
                return "\(path): the scope '\(scope.name)' shows no component; "
                    + "name at least one under 'contents'."
            }
            if let problem = problem(showing: scope.lists, domain, isWritten: isWritten) {
                return "\(path).\(problem)"
            }
        }
        return lists.flatMap { problem(showing: $0, domain, isWritten: isWritten) }
    }

    private func problem(
        showing modes: ListModes, _ domain: Domain, isWritten: Bool
    ) -> String? {
        let byKey = [
            ("contents", modes.contents), ("entered", modes.entered), ("searched", modes.searched),
        ]
        for (key, lists) in byKey {
            for (place, name) in lists.enumerated() {
                let problem =
                    lists[..<place].contains(name)
                    ? "'\(name)' is there twice"
                    : self.problem(showing: name, domain, isWritten: isWritten)
                if let problem { return "\(key)[\(place)]: \(problem)." }
            }
        }
        return nil
    }

    static var nameRule: String { "[a-z][a-z0-9-]{0,62}" }

    private func problem(
        showing name: String, _ domain: Domain, isWritten: Bool
    ) -> String? {
        guard let component = component(name) else {
            return isWritten ? "there is no component '\(name)'" : nil
        }
        let kind = domain.plugins.plugin(component.plugin)?.kind
        guard component.isPart || kind.map({ $0 != .contents }) ?? false else { return nil }
        let lists = components.filter { domain.plugins.plugin($0.plugin)?.kind == .contents }
        let known = lists.map { "'\($0.name)'" }.joined(separator: ", ")
        let what =
            component.container.map { "the container \($0)" }
            ?? "of the kind \(kind?.rawValue ?? "") (\(component.plugin))"
        return "'\(name)' is \(what), and only the kind contents has a list to show; "
            + (known.isEmpty ? "there is none" : "there is \(known)")
    }
}

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

// The place of items among others.
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
    func way(
        to item: String, of slot: Slot, among lists: [Slot]?, limit: Int
    ) -> [(slot: Slot, item: String)] {
        guard let lists else {
            return (slot.list?.way(to: item, limit: limit) ?? []).map { (slot, $0) }
        }
        var way: [(slot: Slot, item: String)] = []
        var next: (slot: Slot, item: String)? = (slot, item)
        while let (slot, item) = next, way.count < limit {
            // A cycle of parents has no outermost item: the way back leads to the top.
            guard !way.contains(where: { $0.item == item }) else { return [way[0]] }
            way.append((slot, item))
            next = slot.list?.parent(of: item).flatMap { parent in
                source(of: parent, among: lists).map { ($0, parent) }
            }
        }
        return way.reversed()
    }
}
