import AtriumKit
import DequeModule
import Index

// Tracks the items in which screens stand, while the trees of items change.
extension ContainerScreens {
    /// The list of a scope that has an item; shown lists take precedence over hidden ones.
    func source(of item: String, in scope: ScopeDefinition?) -> Slot? {
        source(of: item, among: container.lists(in: scope))
    }

    /// The list from which an item is chosen on a screen; lists that the screen shows take precedence.
    func source(of item: String, on view: ViewKey) -> Slot? {
        let scope = container.scope(view.scope)
        return source(
            of: item, among: container.lists(in: scope, view.mode) + container.lists(in: scope))
    }

    /// The path to an item of a list: its existing ancestors, then the item.
    ///
    /// It is the path of ``Container/way(to:of:among:)``.
    func places(
        to item: String, of slot: Slot, in scope: ScopeDefinition?, limit: Int
    ) -> [ViewKey.Place] {
        let lists = isByMode(scope) ? container.lists(in: scope) : nil
        return places(to: item, of: slot, among: lists, limit: limit)
    }

    /// The places of a screen that enters an item.
    ///
    /// - Throws: `itemNotFound`, or `limitExceeded` if it lies too deep.
    func places(
        entering item: String, in scope: ScopeDefinition?
    ) throws(HostError) -> [ViewKey.Place] {
        guard ItemID.isNormal(item), let slot = source(of: item, in: scope) else {
            throw .itemNotFound(container: container.name, item: item)
        }
        let limit = domain.limits.screenPlaces
        let places = places(to: item, of: slot, in: scope, limit: limit + 1)
        guard places.count <= limit else {
            throw .limitExceeded(limit: "screenPlaces", value: limit, retryAfter: nil)
        }
        return places
    }

    /// Does the same as ``places(to:of:in:limit:)``, with parents in any of the lists; nil: only in the item's own
    /// list.
    private func places(
        to item: String, of slot: Slot, among lists: [Slot]?, limit: Int
    ) -> [ViewKey.Place] {
        container.way(to: item, of: slot, among: lists, limit: limit).map {
            ViewKey.Place(component: $0.slot.name, item: $0.item)
        }
    }

    private func source(of item: String, among lists: [Slot]) -> Slot? {
        container.source(of: item, among: lists)
    }

    private func isByMode(_ scope: ScopeDefinition?) -> Bool {
        container.modes(in: scope)?.isByMode ?? false
    }

    /// The present places of screens that stood at these places.
    ///
    /// They stay with the same item, wherever it lies now; if it is gone, with its innermost ancestor that exists.
    func present(_ places: [ViewKey.Place], in scope: String?) -> [ViewKey.Place] {
        guard let component = places.last?.component else { return [] }
        let (scope, limit) = (container.scope(scope), domain.limits.screenPlaces)
        let isByMode = isByMode(scope)
        let lists = container.lists(in: scope).filter { isByMode || $0.name == component }
        for place in places.reversed() {
            if let slot = source(of: place.item, among: lists) {
                let way = self.places(
                    to: place.item, of: slot, among: isByMode ? lists : nil, limit: limit)
                return continued(way, after: places, lists).suffix(limit)
            }
            // Screens stay while it is unknown whether the list has the item.
            if isAwaiting(place, lists) { return places }
        }
        return []
    }

    /// Completes a path with the places before it, while it is unknown whether its first item's parent exists.
    private func continued(
        _ way: [ViewKey.Place], after places: [ViewKey.Place], _ lists: [Slot]
    ) -> [ViewKey.Place] {
        guard let first = way.first,
            let parent = container.slot(first.component)?.list?.parent(of: first.item),
            let end = places.firstIndex(where: { $0.item == parent }),
            source(of: parent, among: lists) == nil, isAwaiting(places[end], lists)
        else { return way }
        return places[...end] + way
    }

    /// Whether it is unknown if the list has the item in which a screen stood.
    private func isAwaiting(_ place: ViewKey.Place, _ lists: [Slot]) -> Bool {
        lists.contains { $0.name == place.component && mayHave(place.item, $0) }
    }

    /// Whether a list may have an item that is not in it yet.
    ///
    /// Its items are not known, or its source was not asked for that item.
    private func mayHave(_ item: String, _ slot: Slot) -> Bool {
        slot.list == nil || slot.awaitsItems
            || slot.asks && !screening.gone.contains(item) && !screening.left.contains(item)
    }

    /// The ancestors of the outermost item in which a view stands.
    ///
    /// They may appear or move, and then the path changes.
    private func ancestors(of view: SharedView) -> [String] {
        guard let place = view.key.places.first, let slot = container.slot(place.component)
        else { return [] }
        let (scope, limit) = (container.scope(view.key.scope), domain.limits.screenPlaces)
        let lists = isByMode(scope) ? container.lists(in: scope) : [slot]
        var ancestors: [String] = []
        var next = slot.list?.parent(of: place.item)
        while let item = next, item != place.item, !ancestors.contains(item),
            ancestors.count < limit
        {
            ancestors.append(item)
            next = source(of: item, among: lists)?.list?.parent(of: item)
        }
        return ancestors
    }

    /// Registers a view for all screens with its choices.
    func insert(_ view: SharedView) { screening.insert(view, under: ancestors(of: view)) }

    /// The present subject for screens that were focused on this one: the container, if the item is gone.
    func present(_ subject: Subject) -> Subject {
        guard let item = subject.item, !container.has(item) else { return subject }
        let mayBeThere = container.slots.contains { $0.kind == .contents && mayHave(item, $0) }
        return mayBeThere ? subject : .container
    }

    /// Marks the views and focuses whose items were added, removed or moved.
    ///
    /// If it is unknown which items moved, all are marked. They are checked in slices, or when one of their screens
    /// is read.
    func followTree() {
        let version = container.slots.lazy.compactMap(\.list).reduce(screening.structure) {
            $0 &* 31 &+ $1.treeVersion
        }
        guard screening.tree.version != version || !screening.gone.isEmpty else { return }
        let isKnown = noteMoved()
        if !isKnown { noteAll() }
        screening.tree = (version, screening.structure)
        forgetLeft()
    }

    /// Marks the views and focuses whose items moved.
    ///
    /// - Returns: whether it is known which items moved.
    private func noteMoved() -> Bool {
        var isKnown = screening.tree.structure == screening.structure
        let asks = container.slots.contains(where: \.asks)
        let gone = screening.gone
        screening.gone = []
        screening.left.formUnion(gone)
        for item in gone { unplace(item) }
        for list in container.slots.lazy.compactMap(\.list) {
            guard let moved = list.takeMoved() else {
                isKnown = false
                continue
            }
            recount(moved.parents)
            for item in moved.items {
                // A source keeps items on which screens stand, so a missing one was removed.
                if asks, !container.has(item) { screening.left.insert(item) }
                unplace(item)
            }
        }
        return isKnown
    }

    private func noteAll() {
        for view in screening.views.values {
            view.mayMiscount = true
            unplace(view)
        }
        for found in screening.standing.values { for view in found.values { unplace(view) } }
        for found in screening.focuses.values { for focus in found.values { unplace(focus) } }
    }

    private func unplace(_ item: String) {
        for view in (screening.standing[item] ?? [:]).values { unplace(view) }
        for focus in (screening.focuses[.item(item)] ?? [:]).values { unplace(focus) }
    }

    private func unplace(_ view: SharedView) {
        guard !view.isUnplaced else { return }
        view.isUnplaced = true
        screening.unplacedViews.append(view)
        schedule()
    }

    private func unplace(_ focus: SharedFocus) {
        guard !focus.isUnplaced else { return }
        focus.isUnplaced = true
        screening.unplacedFocuses.append(focus)
        schedule()
    }

    /// Moves the next marked view or focus to its items; false: none is marked.
    func placeNext() -> Bool {
        if let view = screening.unplacedViews.popFirst() {
            place(view)
        } else if let focus = screening.unplacedFocuses.popFirst() {
            place(focus)
        } else {
            return false
        }
        forgetLeft()
        return true
    }

    private func forgetLeft() {
        guard screening.unplacedViews.isEmpty, screening.unplacedFocuses.isEmpty else { return }
        screening.left = []
    }

    /// Moves a view to the present places of its items, or back from removed ones; its screens follow in slices.
    func place(_ view: SharedView) {
        guard view.isUnplaced else { return }
        view.isUnplaced = false
        // It may have no screens any more.
        guard screening.has(view) else { return }
        screening.placings += 1
        if view.mayMiscount {
            view.mayMiscount = false
            let hasChildren = container.slots.contains { $0.list?.hasChildren ?? false }
            if hasChildren || view.showsChildren { view.recount() }
        }
        guard !view.key.places.isEmpty else { return }
        let places = present(view.key.places, in: view.key.scope)
        if places != view.key.places {
            move(view, to: places)
        } else {
            screening.place(view, under: ancestors(of: view))
        }
    }

    /// Does the same as ``place(_:)`` for a focus.
    func place(_ focus: SharedFocus) {
        guard focus.isUnplaced else { return }
        focus.isUnplaced = false
        guard screening[focus.key] === focus else { return }
        screening.placings += 1
        let subject = present(focus.key.subject)
        if subject != focus.key.subject { move(focus, to: subject) } else { note(focus) }
    }

    /// Moves what a screen shows to the present places of its items, and the screen with it.
    func place(_ screen: Screen) {
        guard let view = screen.view, let focus = screen.focus else { return }
        place(view)
        place(focus)
        if isBehind(screen, view, focus) { moveAlong(screen) }
    }

    /// Updates the numbers of children after items were added under or removed from these parents.
    private func recount(_ parents: Set<String>) {
        for list in container.slots.lazy.compactMap(\.list) {
            for parent in parents {
                list.visitHolders(knowing: parent) { ($0 as? SharedView)?.recount() }
            }
        }
    }

    private func move(_ view: SharedView, to places: [ViewKey.Place]) {
        screening.remove(view)
        view.stand(at: places)
        let next = registered(view)
        note(next)
        // It stays registered until its screens have left it.
        if next !== view { screening.place(view, under: ancestors(of: view)) }
        moveAlong(view.screens.values)
    }

    private func move(_ focus: SharedFocus, to subject: Subject) {
        guard !focus.screens.isEmpty else { return }
        screening.remove(focus)
        focus.goal = subject
        moveAlong(focus.screens.values)
    }

    /// A screen's choices with the present places of its items, even if the screen has not been moved yet.
    func presentChoices(of screen: Screen) -> Screen.Choices {
        followTree()
        place(screen)
        return screen.choices
    }

    /// Whether a screen's view or focus has moved since the screen was last moved.
    private func isBehind(_ screen: Screen, _ view: SharedView, _ focus: SharedFocus) -> Bool {
        focus.goal != nil || screen.choices.view.places != view.key.places
    }

    /// Moves a screen to the places of its view and focus.
    func moveAlong(_ screen: Screen) {
        guard !screen.isEnded, let old = screen.view, let before = screen.focus else { return }
        screening.moves += 1
        let view = registered(old)
        var choices = screen.choices
        choices.view.places = view.key.places
        choices.subject = before.goal ?? choices.subject
        var key = before.key
        key.subject = choices.subject
        let focus = before.goal == nil ? before : screening[key] ?? SharedFocus(key, on: self)
        guard view !== old || focus !== before || isBehind(screen, old, before) else { return }
        screening.insert(focus)
        show(screen, choices, view, focus)
        table.changed(screen.root)
    }

    /// The registered view with the same choices if that is ready, else this one.
    func registered(_ view: SharedView) -> SharedView {
        let other = screening.views[view.key]
        if other === view { return view }
        if let other, other.isReady { return other }
        insert(view)
        changed()
        return view
    }
}
