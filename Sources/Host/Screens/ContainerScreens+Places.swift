import AtriumKit
import DequeModule
import Index

// Where screens stand in trees of items, while these change.
extension ContainerScreens {
    /// The list of a scope that has an item: one that is shown before one that is hidden.
    func source(of item: String, in scope: ScopeDefinition?) -> Slot? {
        source(of: item, among: container.lists(in: scope))
    }

    /// The list that an item is chosen from on a screen: of those that have it one that it shows.
    func source(of item: String, on view: ViewKey) -> Slot? {
        let scope = container.scope(view.scope)
        return source(
            of: item, among: container.lists(in: scope, view.mode) + container.lists(in: scope))
    }

    /// The way to an item of a list: what it lies under, as far as that is there, then itself.
    ///
    /// As ``Container/way(to:of:among:)`` has it.
    func places(
        to item: String, of slot: Slot, in scope: ScopeDefinition?, limit: Int
    ) -> [ViewKey.Place] {
        let lists = isByMode(scope) ? container.lists(in: scope) : nil
        return places(to: item, of: slot, among: lists, limit: limit)
    }

    /// As ``places(to:of:in:limit:)``; a parent may lie in any of the lists, nil: in the item's own.
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

    /// Where those stand now who stood here: with the same item, wherever it lies; if it is gone,
    /// with the innermost of those that it lay under that is there.
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
            // While it is not known whether its list has it, they stay.
            if isAwaiting(place, lists) { return places }
        }
        return []
    }

    /// A way, after that on which they stood to what its first item lies under, while it is not known
    /// whether that is there.
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

    /// Whether it is not known what items the list has that somebody stood in.
    private func isAwaiting(_ place: ViewKey.Place, _ lists: [Slot]) -> Bool {
        lists.contains { $0.name == place.component && mayHave(place.item, $0) }
    }

    /// Whether a list may have an item that is not in it: it is not known what items it has, or its source was
    /// not asked for that one yet.
    private func mayHave(_ item: String, _ slot: Slot) -> Bool {
        slot.list == nil || slot.awaitsItems
            || slot.asks && !screening.gone.contains(item) && !screening.left.contains(item)
    }

    /// What the outermost item that a view stands in lies under, and what that does: it may come, or lie
    /// elsewhere, and end that items lie under one another.
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

    /// The view that those share from now on who chose what it shows.
    func insert(_ view: SharedView) { screening.insert(view, under: ancestors(of: view)) }

    /// What those are focused on now who were focused on this: the container once an item is gone.
    func present(_ subject: Subject) -> Subject {
        guard let item = subject.item, !container.has(item) else { return subject }
        let mayBeThere = container.slots.contains { $0.kind == .contents && mayHave(item, $0) }
        return mayBeThere ? subject : .container
    }

    /// Notes the views that stand in items, and the focuses on some, that came, went or lie elsewhere.
    ///
    /// Where that is not known these are all that may be concerned. They are looked at in slices, or when one of their
    /// screens is read.
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

    /// Notes the views and focuses whose items moved.
    ///
    /// - Returns: whether it is known which did.
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
                // Where screens are a source's items stay: one that is gone was taken away.
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

    /// Puts the next view or focus where its items lie; false: none waits.
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

    /// Lets a view step back from items that are gone, and go along with those that lie elsewhere: its screens follow in
    /// slices.
    func place(_ view: SharedView) {
        guard view.isUnplaced else { return }
        view.isUnplaced = false
        // Nobody may show it any more.
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

    /// As ``place(_:)``, for those who are focused on an item.
    func place(_ focus: SharedFocus) {
        guard focus.isUnplaced else { return }
        focus.isUnplaced = false
        guard screening[focus.key] === focus else { return }
        screening.placings += 1
        let subject = present(focus.key.subject)
        if subject != focus.key.subject { move(focus, to: subject) } else { note(focus) }
    }

    /// Puts what a screen shows where its items lie, and the screen there.
    func place(_ screen: Screen) {
        if let view = screen.view { place(view) }
        if let focus = screen.focus { place(focus) }
        if isBehind(screen) { moveAlong(screen) }
    }

    /// Items came to lie under these, or lie there no more: who shows them says how many there are.
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
        // Until its screens have left it, it goes along.
        if next !== view { screening.place(view, under: ancestors(of: view)) }
        moveAlong(view.screens.values)
    }

    private func move(_ focus: SharedFocus, to subject: Subject) {
        guard !focus.screens.isEmpty else { return }
        screening.remove(focus)
        focus.goal = subject
        moveAlong(focus.screens.values)
    }

    /// What is chosen on a screen, which stands where its items lie by now: its turn to go along may be to come.
    func presentChoices(of screen: Screen) -> Screen.Choices {
        followTree()
        place(screen)
        return screen.choices
    }

    /// Whether a screen's view or focus stands elsewhere since the screen was moved last.
    func isBehind(_ screen: Screen) -> Bool {
        guard let view = screen.view, let focus = screen.focus else { return false }
        return focus.goal != nil || screen.choices.view.places != view.key.places
    }

    /// Lets a screen stand where its view and its focus stand.
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
        guard view !== old || focus !== before || isBehind(screen) else { return }
        screening.insert(focus)
        show(screen, choices, view, focus)
        table.changed(screen.root)
    }

    /// The view that those share who chose what one shows: another that is ready already, or this.
    func registered(_ view: SharedView) -> SharedView {
        let other = screening.views[view.key]
        if other === view { return view }
        if let other, other.isReady { return other }
        insert(view)
        changed()
        return view
    }
}
