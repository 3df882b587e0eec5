import AtriumKit
import NIOCore

// Opens and updates containers that are parts of screens.
extension ContainerScreens {
    /// Updates parts for the choices that a screen is about to show, and opens parts that are not open yet.
    func follow(_ screen: Screen, _ choices: Screen.Choices, in turn: ScreenTurn) {
        // A screen closed meanwhile must not get parts again.
        guard !screen.isEnded, !screen.root.isEnded else { return }
        makeParts(of: screen)
        for part in screen.parts {
            guard let home = part.home, let next = next(of: part, in: home, beneath: choices)
            else { continue }
            // A late part with the same choices is shown once it is ready.
            if part.view == nil, let asked = part.place?.asked, asked.view == next.view { continue }
            turn.add(part, next, of: home)
        }
    }

    /// The choices that a part should show; nil: no change.
    private func next(
        of part: Screen, in home: ContainerScreens, beneath choices: Screen.Choices
    ) -> Screen.Choices? {
        guard let place = part.place, let parent = place.parent,
            let entry = container.parts.first(where: { $0.name == place.name })
        else { return nil }
        var next = part.choices
        if part.view != nil {
            next = home.placement.choices(of: part)
        } else if !place.isOpen {
            next.view.selection = home.container.filters.preselection
            next.view.limit = choices.view.limit
        }
        let before =
            place.followed ?? (parent.view == nil ? nil : parent.choices.view.selection)
        let isNew = !place.isOpen || place.follow != entry.follow
        place.follow = entry.follow
        for (own, theirs) in entry.follow {
            let now = choices.view.selection[theirs]
            if isNew || before.map({ $0[theirs] != now }) ?? false {
                next.view.selection[own] = now
            }
        }
        place.following = choices.view.selection
        let isSame = part.view != nil && next.view == part.choices.view
        if isSame { place.followed = place.following }
        return isSame ? nil : next
    }

    /// Prepares a part's choices, as its delegate decides.
    func answer(
        _ choices: Screen.Choices, on part: Screen, _ done: @escaping Answer<PreparedView>
    ) {
        guard !container.loading.isUnderWay else {
            container.loading.whenOver { [self] in retryParts() }
            return done(
                .failure(
                    .componentUnavailable(
                        component: container.name, reason: "It is being started.", retryAfter: 1)))
        }
        if part.place?.isRestored == true {
            part.place?.isRestored = false
            return prepare(part, for: choices, done)
        }
        decide(choices, on: part, done)
    }

    /// Shows why a part can't be shown, until it can.
    func fail(_ part: Screen, with choices: Screen.Choices, _ problem: String) {
        guard !part.isEnded else { return }
        leave(part)
        part.choose(choices)
        // The initial selection is not known before the container's components are loaded.
        if !container.loading.isUnderWay { part.place?.isOpen = true }
        part.place?.problem = problem
        failed[part.id] = part
    }

    /// Tries again to show failed parts, after something changed.
    func retryParts() {
        guard !failed.isEmpty else { return }
        var parts = Array(failed.values)
        failed.removeAll()
        domain.inSlices {
            guard let part = parts.popLast() else { return false }
            part.place?.parent.map { $0.home?.showParts(of: $0) }
            return true
        } then: {
        }
    }

    /// Creates and removes a screen's parts to match the container's definition.
    private func makeParts(of screen: Screen) {
        guard !container.parts.isEmpty || !screen.parts.isEmpty else { return }
        let (homes, root) = (table.homes(), screen.root)
        let before = screen.parts
        screen.parts = before.filter { part in
            container.parts.contains {
                $0.name == part.place?.name && $0.container == part.place?.container
            } && part.home != nil && part.home === homes[part.place?.container ?? ""]
        }
        // Removed first, because a new part may have the same path.
        for part in before where !screen.parts.contains(where: { $0 === part }) {
            if let home = part.home { home.close(part) } else { table.remove(part.id) }
        }
        var count = 0
        root.forEachPart { _ in count += 1 }
        screen.parts = container.parts.compactMap { entry in
            if let known = screen.parts.first(where: { $0.place?.name == entry.name }) {
                return known
            }
            // Deeper or larger nesting is already refused when definitions are applied.
            guard let home = entry.container.flatMap({ homes[$0] }),
                (screen.place?.level ?? 0) + 1 < Nesting.mostLevels, count < Nesting.mostParts
            else { return nil }
            count += 1
            return makePart(of: entry, in: screen, on: home)
        }
    }

    private func makePart(
        of entry: ComponentDefinition, in screen: Screen, on home: ContainerScreens
    ) -> Screen {
        let place = PartPlace(of: entry, in: screen)
        let part = Screen(at: place, of: screen, on: home)
        let kept = screen.root.keptParts.removeValue(forKey: place.path)
        if let kept, kept.container == entry.container {
            part.choose(kept.choices)
            place.isOpen = true
            place.isRestored = true
        }
        table.insert(part: part)
        return part
    }

    /// Updates a screen's parts in the screen's turn, and shows them.
    func showParts(of screen: Screen, then done: @escaping () -> Void = {}) {
        screen.queue { [self] end in
            let finished = {
                done()
                end()
            }
            guard !screen.isEnded, screen.view != nil else { return finished() }
            let root = screen.root
            ScreenTurn(of: root, in: domain) { [self] all in
                show(all, on: root) { result in
                    if case .failure(let error) = result {
                        for shown in all {
                            shown.home.fail(shown.screen, with: shown.choices, error.sentence)
                        }
                        root.touched()
                    }
                    finished()
                }
            }.begin(withPartsOf: screen)
        }
    }
}

// Notifies a container's parts and parents of changes.
extension ContainerScreens {
    func partsChanged(hadParts: Bool) {
        table.note(self)
        notifyParents()
        if hadParts || !container.parts.isEmpty { showPartsEverywhere() }
    }

    /// Notifies the parents after the container was added, removed or redefined.
    func notifyParents() {
        let name = container.name
        for home in table.parents.values
        where home.container.parts.contains(where: { $0.container == name }) {
            home.container.structureChanged()
            home.showPartsEverywhere(without: name)
        }
    }

    /// Shows parts on open screens; if a container is given, only on those that lack that part.
    private func showPartsEverywhere(without container: String? = nil) {
        var screens = everywhere
        if let container {
            screens.removeAll { screen in
                screen.parts.contains { $0.place?.container == container && $0.home != nil }
            }
        }
        guard !screens.isEmpty else { return }
        domain.inSlices { [self] in
            guard let screen = screens.popLast() else { return false }
            showParts(of: screen)
            return true
        } then: {
        }
    }

    func title(ofPart part: ComponentDefinition) -> String? {
        part.container.flatMap { table.homes()[$0] }.map {
            part.title ?? $0.container.definition.title ?? $0.container.name
        }
    }

    /// The components as shown on a screen that hides these, including parts.
    func components(
        in scope: ScopeDefinition?, _ mode: ListMode, hiding hidden: Set<String>
    ) -> [ScreenComponent] {
        guard !container.parts.isEmpty else {
            return container.slots(in: scope, mode).map {
                $0.view(hiding: hidden, in: container.definition)
            }
        }
        var places = container.places(in: scope, mode)[...]
        return container.definition.components.compactMap { component in
            guard component.isPart else {
                return places.popFirst()?.map { $0.view(hiding: hidden, in: container.definition) }
            }
            let title = title(ofPart: component)
            return ScreenComponent(
                name: component.name, kind: nil, container: component.container,
                title: title ?? component.title ?? component.name,
                isHidden: component.isHidden || hidden.contains(component.name),
                problem: title == nil ? component.absence : nil, facts: nil, present: nil, sort: [],
                empty: nil)
        }
    }
}
