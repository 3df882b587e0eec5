import AtriumKit
import Index

// Where screens stand in trees of items, while these change.
extension ContainerScreens {
    /// The list of a scope that has an item: one that is shown before one that is hidden.
    func source(of item: String, in scope: ScopeDefinition?) -> Slot? {
        let sources = container.lists(in: scope).filter { $0.list?.contains(item) ?? false }
        return sources.first { !$0.definition.isHidden } ?? sources.first
    }

    /// The way to an item in its list: what it lies under, as far as that is there, then itself.
    func places(to item: String, in slot: Slot, limit: Int) -> [ViewKey.Place] {
        (slot.list?.way(to: item, limit: limit) ?? []).map {
            ViewKey.Place(component: slot.name, item: $0)
        }
    }

    /// Where those stand now who stood here: with the same item, wherever it lies; if it is gone,
    /// with the innermost of those that it lay under that is there.
    func present(_ places: [ViewKey.Place], in scope: String?) -> [ViewKey.Place] {
        guard let component = places.last?.component, let slot = container.slot(component),
            container.lists(in: container.scope(scope)).contains(where: { $0 === slot })
        else { return [] }
        // While it is not known what there is, they stay.
        guard let list = slot.list else { return places }
        guard let last = places.last(where: { list.contains($0.item) }) else { return [] }
        return self.places(to: last.item, in: slot, limit: domain.limits.screenPlaces)
    }

    /// What those are focused on now who were focused on this: the container once an item is gone.
    func present(_ subject: Subject) -> Subject {
        guard let item = subject.item, !container.has(item) else { return subject }
        let isKnown = container.slots.allSatisfy { $0.kind != .contents || $0.list != nil }
        return isKnown ? .container : subject
    }

    /// Lets views and focuses step back from items that are gone, and go along with those that lie
    /// elsewhere: their screens follow in slices.
    func followTree() {
        let version = container.slots.lazy.compactMap(\.list).reduce(screening.structure) {
            $0 &* 31 &+ $1.treeVersion
        }
        guard screening.tree.version != version else { return }
        let (views, focuses) = movedAlong()
        screening.tree = (version, screening.structure)
        for view in views where !view.key.places.isEmpty {
            let places = present(view.key.places, in: view.key.scope)
            if places != view.key.places { move(view, to: places) }
        }
        for focus in focuses {
            let subject = present(focus.key.subject)
            if subject != focus.key.subject { move(focus, to: subject) } else { note(focus) }
        }
    }

    /// The views that stand in items, and the focuses on some, that came, went or lie elsewhere: of
    /// each that may be concerned where that is not known.
    private func movedAlong() -> (views: [SharedView], focuses: [SharedFocus]) {
        var views: [ObjectIdentifier: SharedView] = [:]
        var focuses: [Subject: [FocusKey: SharedFocus]] = [:]
        var isKnown = screening.tree.structure == screening.structure
        for list in container.slots.lazy.compactMap(\.list) {
            let isListed = list.visitMoved { [screening] item in
                if let found = screening.standing[item] { views.merge(found) { $1 } }
                if let found = screening.focuses[.item(item)] { focuses[.item(item)] = found }
            }
            if !isListed { isKnown = false }
        }
        guard isKnown else {
            for found in screening.standing.values { views.merge(found) { $1 } }
            return (Array(views.values), screening.focuses.values.flatMap { $0.values })
        }
        return (Array(views.values), focuses.values.flatMap { $0.values })
    }

    private func move(_ view: SharedView, to places: [ViewKey.Place]) {
        screening.remove(view)
        view.stand(at: places)
        let next = registered(view)
        note(next)
        // Until its screens have left it, it goes along.
        if next !== view { screening.place(view) }
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
        if isBehind(screen) { moveAlong(screen) }
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
    }

    /// The view that those share who chose what one shows: another that is ready already, or this.
    func registered(_ view: SharedView) -> SharedView {
        let other = screening.views[view.key]
        if other === view { return view }
        if let other, other.isReady { return other }
        screening.insert(view)
        changed()
        return view
    }
}
