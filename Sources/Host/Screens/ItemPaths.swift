import Index

/// The paths of items in a container's lists.
struct ItemPaths {
    let container: Container

    /// The list of a scope that has an item; shown lists take precedence over hidden ones.
    func source(of item: String, in scope: ScopeDefinition?) -> Slot? {
        container.scopes.source(of: item, among: container.scopes.lists(in: scope))
    }

    /// The list from which an item is chosen on a screen; lists that the screen shows take precedence.
    func source(of item: String, on view: ViewKey) -> Slot? {
        let scope = container.scopes[view.scope]
        return container.scopes.source(
            of: item,
            among: container.scopes.lists(in: scope, view.mode) + container.scopes.lists(in: scope))
    }

    /// The path of a screen that enters an item; throws `itemNotFound`, or `limitExceeded` if it lies too deep.
    func path(
        entering item: String, in scope: ScopeDefinition?
    ) throws(HostError) -> [ViewKey.PathItem] {
        guard ItemID.isNormal(item), let slot = source(of: item, in: scope) else {
            throw .itemNotFound(container: container.name, item: item)
        }
        let limit = container.domain.limits.screenPlaces
        let lists = isByMode(scope) ? container.scopes.lists(in: scope) : nil
        let path = path(to: item, of: slot, among: lists, limit: limit + 1)
        guard path.count <= limit else {
            throw .limitExceeded(limit: "screenPlaces", value: limit, retryAfter: nil)
        }
        return path
    }

    /// The path to an item of a list: its existing ancestors, then the item.
    ///
    /// It is the path of ``Container/path(to:of:among:)``, with parents in any of the lists; nil: only in the item's
    /// own list.
    func path(
        to item: String, of slot: Slot, among lists: [Slot]?, limit: Int
    ) -> [ViewKey.PathItem] {
        container.scopes.path(to: item, of: slot, among: lists, limit: limit).map {
            ViewKey.PathItem(component: $0.slot.name, item: $0.item)
        }
    }

    /// The ancestors of the outermost item in which a view stands.
    ///
    /// They may appear or move, and then the path changes.
    func ancestors(of view: ViewKey) -> [String] {
        guard let outermost = view.path.first, let slot = container.slot(outermost.component)
        else { return [] }
        let (scope, limit) = (container.scopes[view.scope], container.domain.limits.screenPlaces)
        let lists = isByMode(scope) ? container.scopes.lists(in: scope) : [slot]
        var ancestors: [String] = []
        var next = slot.list?.tree.parent(of: outermost.item)
        while let item = next, item != outermost.item, !ancestors.contains(item),
            ancestors.count < limit
        {
            ancestors.append(item)
            next = container.scopes.source(of: item, among: lists)?.list?.tree.parent(of: item)
        }
        return ancestors
    }

    /// Whether the lists of a scope differ by mode: then a parent may be in another list than its children.
    func isByMode(_ scope: ScopeDefinition?) -> Bool {
        container.scopes.modes(in: scope)?.isByMode ?? false
    }
}
