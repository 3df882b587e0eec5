import AtriumKit

/// Opens, updates and closes the parts of a container's screens.
///
/// A screen gets a part for each container among the components of its own one. When choices are about to be shown on
/// a screen, its parts are matched with the definition, and get the choices that follow from them; a ``ScreenTurn``
/// then prepares and shows all together. The container whose screens are around the part asks for its choices, and the
/// container that the part shows answers. A part that can't be shown has a problem instead, and is tried again after
/// something changed.
final class PartAssembly {
    private unowned let screens: ContainerScreens
    /// The parts that show this container, and could not be shown.
    private var failed: [ScreenID: Screen] = [:]

    init(of screens: ContainerScreens) { self.screens = screens }

    private var container: Container { screens.container }
    private var table: ScreenTable { screens.table }
}

// MARK: Parts of the container's screens

extension PartAssembly {
    /// Updates parts for the choices that a screen is about to show, and opens parts that are not open yet.
    func follow(_ screen: Screen, _ choices: Screen.Choices, in turn: ScreenTurn) {
        // A screen closed meanwhile must not get parts again.
        guard !screen.isEnded, !screen.root.isEnded else { return }
        makeParts(of: screen)
        for part in screen.parts {
            guard let home = part.home, let next = next(of: part, in: home, beneath: choices)
            else { continue }
            // A late part with the same choices is shown once it is ready.
            if part.view == nil, let asked = part.partState?.asked, asked.view == next.view {
                continue
            }
            turn.add(part, next, of: home)
        }
    }

    /// The choices that a part should show; nil: no change.
    private func next(
        of part: Screen, in home: ContainerScreens, beneath choices: Screen.Choices
    ) -> Screen.Choices? {
        guard let state = part.partState, let parent = state.parent,
            let entry = container.parts.first(where: { $0.name == state.name })
        else { return nil }
        var next = part.choices
        if part.view != nil {
            next = home.placement.choices(of: part)
        } else if !state.isOpen {
            next.view.selection = home.container.filters.preselection
            next.view.limit = choices.view.limit
        }
        let before =
            state.followed ?? (parent.view == nil ? nil : parent.choices.view.selection)
        let isNew = !state.isOpen || state.follow != entry.follow
        state.follow = entry.follow
        for (own, theirs) in entry.follow {
            let now = choices.view.selection[theirs]
            if isNew || before.map({ $0[theirs] != now }) ?? false {
                next.view.selection[own] = now
            }
        }
        state.following = choices.view.selection
        let isSame = part.view != nil && next.view == part.choices.view
        if isSame { state.followed = state.following }
        return isSame ? nil : next
    }

    /// Creates and removes a screen's parts to match the container's definition.
    private func makeParts(of screen: Screen) {
        guard !container.parts.isEmpty || !screen.parts.isEmpty else { return }
        let (homes, root) = (table.homes(), screen.root)
        let before = screen.parts
        screen.parts = before.filter { part in
            container.parts.contains {
                $0.name == part.partState?.name && $0.container == part.partState?.container
            } && part.home != nil && part.home === homes[part.partState?.container ?? ""]
        }
        // Removed first, because a new part may have the same path.
        for part in before where !screen.parts.contains(where: { $0 === part }) {
            part.home?.close(part)
        }
        var count = 0
        root.forEachPart { _ in count += 1 }
        screen.parts = container.parts.compactMap { entry in
            if let known = screen.parts.first(where: { $0.partState?.name == entry.name }) {
                return known
            }
            // Deeper or larger nesting is already refused when definitions are applied.
            guard let home = entry.container.flatMap({ homes[$0] }),
                (screen.partState?.level ?? 0) + 1 < Nesting.mostLevels, count < Nesting.mostParts
            else { return nil }
            count += 1
            return makePart(of: entry, in: screen, on: home)
        }
    }

    private func makePart(
        of entry: ComponentDefinition, in screen: Screen, on home: ContainerScreens
    ) -> Screen {
        let state = PartState(of: entry, in: screen)
        let part = Screen(as: state, of: screen, on: home)
        let kept = screen.root.keptParts.removeValue(forKey: state.path)
        if let kept, kept.container == entry.container {
            part.choose(kept.choices)
            state.isOpen = true
            state.isRestored = true
        }
        table.insert(part: part)
        return part
    }

    /// Updates a screen's parts in the screen's turn, and shows them.
    func show(on screen: Screen, then done: @escaping () -> Void = {}) {
        screen.queue { [screens] end in
            let finished = {
                done()
                end()
            }
            guard !screen.isEnded, screen.view != nil else { return finished() }
            let root = screen.root
            ScreenTurn(of: root, in: screens.domain) { all in
                screens.choosing.show(all, on: root) { result in
                    if case .failure(let error) = result {
                        for shown in all {
                            shown.home.parts.fail(
                                shown.screen, with: shown.choices, error.plainSentence)
                        }
                        root.touched()
                    }
                    finished()
                }
            }.begin(withPartsOf: screen)
        }
    }
}

// MARK: Parts that show the container

extension PartAssembly {
    /// Prepares a part's choices, as its delegate decides.
    func answer(
        _ choices: Screen.Choices, on part: Screen, _ done: @escaping Answer<PreparedView>
    ) {
        guard !container.loading.isUnderWay else {
            container.loading.whenOver { [screens] in screens.parts.retry() }
            return done(
                .failure(
                    .componentUnavailable(
                        component: container.name, reason: "It is being started.", retryAfter: 1)))
        }
        if part.partState?.isRestored == true {
            part.partState?.isRestored = false
            return screens.choosing.prepare(part, for: choices, done)
        }
        guard part.view == nil else { return screens.choosing.decide(choices, on: part, done) }
        let preselected = container.filters.preselection
        PreselectionSearch(on: screens) { [screens] selection in
            var choices = choices
            // The others follow the screen around the part.
            for (section, filters) in preselected.sections
            where choices.view.selection[section] == filters {
                choices.view.selection[section] = selection[section]
            }
            screens.choosing.decide(choices, on: part, done)
        }.run()
    }

    /// Shows why a part can't be shown, until it can.
    func fail(_ part: Screen, with choices: Screen.Choices, _ problem: String) {
        guard !part.isEnded else { return }
        screens.updates.unblock(part)
        part.leaveViews()
        part.choose(choices)
        // The initial selection is not known before the container's components are loaded.
        if !container.loading.isUnderWay { part.partState?.isOpen = true }
        part.partState?.problem = problem
        failed[part.id] = part
    }

    /// Tries again to show failed parts, after something changed.
    func retry() {
        guard !failed.isEmpty else { return }
        var parts = Array(failed.values)
        failed.removeAll()
        container.domain.slices.run {
            guard let part = parts.popLast() else { return false }
            part.partState?.parent.map { $0.home?.parts.show(on: $0) }
            return true
        } then: {
        }
    }

    /// Drops the failure of a part that is closed.
    func removeFailure(_ part: Screen) { failed[part.id] = nil }
}

// MARK: Changes of containers

extension PartAssembly {
    /// Takes a change of the parts of the container's definition, or of what is shown of the container as a part.
    func changed(hadParts: Bool) {
        table.surroundings.update(screens)
        notifyParents()
        if hadParts || !container.parts.isEmpty { showEverywhere() }
    }

    /// Notifies the parents after the container was added, removed or redefined.
    func notifyParents() {
        let name = container.name
        for home in table.surroundings.parents.values
        where home.container.parts.contains(where: { $0.container == name }) {
            home.container.structureChanged()
            home.parts.showEverywhere(without: name)
        }
    }

    /// Shows parts on open screens; if a container is given, only on those that lack that part.
    private func showEverywhere(without container: String? = nil) {
        var left = screens.everywhere
        if let container {
            // Parts of a container that was removed may still have its screens.
            let home = screens.table.homes()[container]
            left.removeAll { screen in
                screen.parts.contains {
                    $0.partState?.container == container && $0.home != nil && $0.home === home
                }
            }
        }
        guard !left.isEmpty else { return }
        screens.domain.slices.run { [screens] in
            guard let screen = left.popLast() else { return false }
            screens.parts.show(on: screen)
            return true
        } then: {
        }
    }
}
