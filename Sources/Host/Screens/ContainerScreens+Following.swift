import AtriumKit
import DequeModule
import Index
import NIOCore

// Brings screens up to date with what happened.
//
// A commit marks the views and focuses that it affects. They are updated one after the other, in slices, and the
// readers of those that changed are woken. Commits that arrive meanwhile are handled together. If a commit moves an
// item in which screens stand, it also moves their view or focus, and then the screens one by one. A screen that is
// read before its turn is moved, and its view and focus are updated, at once: a revision always shows one moment, and
// a commit is never split between two. If very many views and focuses stand in an item, these are moved in slices
// too.
extension ContainerScreens {
    var structure: UInt64 { screening.structure }

    var commits: Int { screening.commits }

    /// Whether screens that hide these components show filters.
    func showsFilters(hiding hidden: Set<String>) -> Bool {
        container.slots.contains { $0.kind == .filters && !$0.isHidden(beside: hidden) }
    }

    /// A number that changes when the filters components may offer something else.
    ///
    /// It is nil while one of them does not answer.
    var offers: UInt64? {
        if let known = screening.offers, known.version == screening.version { return known.value }
        let offers = presentOffers
        screening.offers = (screening.version, offers)
        return offers
    }

    private var presentOffers: UInt64? {
        let limit = domain.limits.facetValues
        var version = screening.structure &* 31 &+ UInt64(limit)
        version = version &* 31 &+ container.dates.version
        for slot in container.slots where slot.kind == .filters {
            guard slot.isAttached, let port = slot.port else { return nil }
            for list in container.slots.lazy.compactMap(\.list) {
                version =
                    version &* 31 &+ list.valuesVersion(of: port.observedFields, atMost: limit)
            }
        }
        return version
    }

    /// Updates views and focuses, and wakes the readers of those that changed.
    func flush() {
        guard screening.isDirty, !screening.isFollowing else { return }
        screening.isFollowing = true
        guard !domain.isSpent else { return followInSlices() }
        // Most commits affect few screens: these are updated before the commit's reply.
        let end = NIODeadline.now() + .milliseconds(1)
        while follow() {
            guard NIODeadline.now() >= end else { continue }
            domain.putOffSlices()
            return followInSlices()
        }
        haveFollowed()
    }

    private func followInSlices() {
        domain.inSlices { [self] in
            follow()
        } then: { [self] in
            haveFollowed()
        }
    }

    private func haveFollowed() {
        screening.isFollowing = false
        screening.answers.forget()
    }

    /// Does the next small step; false: all screens are up to date and their readers woken.
    private func follow() -> Bool {
        if screening.isDirty {
            screening.isDirty = false
            placement.followTree()
            findOutdated()
        } else if placement.placeNext() {
            // This marks the affected screens, one by one.
        } else if container.slots.contains(where: { $0.list?.followChanges() ?? false }) {
            // The lists marked the affected views.
        } else if let screen = screening.strays.popFirst() {
            placement.follow(screen)
            screen.touched()
        } else if let screen = screening.takeWoken() {
            screen.touched()
        } else if let focus = screening.staleFocuses.popFirst() {
            focus.isQueued = false
            visit(focus)
        } else if let view = screening.staleViews.popFirst() {
            view.isQueued = false
            visit(view)
        } else {
            return false
        }
        return true
    }

    /// Marks all views, if something changed that affects each of them.
    private func findOutdated() {
        let seen = Screening.Seen(
            structure: structure, offers: offers,
            flat: container.slots.compactMap { $0.list?.isFlat })
        guard seen != screening.seen else { return }
        let before = screening.seen
        screening.seen = seen
        if before.structure != seen.structure {
            // The components for which these screens wait may have been removed.
            screening.wake(screening.blocked.values)
            screening.blocked.removeAll()
        }
        let isOfFilters = before.structure == seen.structure && before.flat == seen.flat
        for view in shared.views.values where !isOfFilters || view.dependsOnOffers(self) {
            note(view)
        }
    }
}

// Marks and updates views and focuses.
extension ContainerScreens {
    /// Marks a view to be updated.
    func note(_ view: SharedView) {
        guard !view.isQueued else { return }
        view.isQueued = true
        screening.staleViews.append(view)
        schedule()
    }

    /// Marks a focus to be updated.
    func note(_ focus: SharedFocus) {
        guard !focus.isQueued else { return }
        focus.isQueued = true
        screening.staleFocuses.append(focus)
        schedule()
    }

    /// Updates what a screen shows, before it is read.
    func catchUp(_ screen: Screen) {
        // An item in which it stands may have moved.
        if screening.isDirty { placement.followTree() }
        placement.place(screen)
        if let view = screen.view, let focus = screen.focus { catchUp(view, focus) }
    }

    /// Updates a view and a focus before they are shown.
    func catchUp(_ view: SharedView, _ focus: SharedFocus) {
        if view.version != screening.version { visit(view) }
        if focus.version != screening.version { visit(focus) }
    }

    private func visit(_ view: SharedView) {
        placement.place(view)
        screening.visits += 1
        view.version = screening.version
        if view.advance() { wake(view.screens.values) }
    }

    private func visit(_ focus: SharedFocus) {
        placement.place(focus)
        focus.version = screening.version
        if focus.advance() { wake(focus.screens.values) }
    }

    private func wake(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        screening.wake(screens)
        schedule()
    }

    /// Marks screens whose view or focus has moved: they follow one by one, or when they are read.
    func moveAlong(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        screening.strays += screens
        schedule()
    }

    /// Schedules an update for everything that is marked.
    func schedule() {
        guard !screening.isFollowing, !screening.isDirty else { return }
        changed()
    }
}

// Handles the answers of components.
extension ContainerScreens {
    /// Marks a screen as waiting for a component's answer.
    func block(_ screen: Screen) { screening.blocked[screen.id] = screen }

    /// Marks a screen as no longer waiting.
    func unblock(_ screen: Screen) { screening.blocked[screen.id] = nil }

    func answered(_ view: SharedView) {
        note(view)
        touch(view.screens.values)
    }

    func focusAnswered(_ focus: SharedFocus) { touch(focus.screens.values) }

    func ballotsAnswered(_ ballots: OwnBallots) {
        touch(ballots.screens.values.filter(\.isBlocked))
    }

    private func touch(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        screening.wake(screens)
        changed()
    }

    /// Updates an actor's ballot on the actor's screens.
    func noteBallot(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot) {
        guard !screening.ballots.isEmpty, slot.name == container.derived.votes,
            let ballots = domain.actors.name(of: actor).flatMap({ screening.ballots[$0] })
        else { return }
        ballots.note(value, on: subject)
        if let item = subject.item {
            for list in container.slots.lazy.compactMap(\.list) {
                list.visitHolders(knowing: item) { view in
                    touch(ballots.screens(of: view))
                }
            }
        }
        for focus in (shared.focuses[subject] ?? [:]).values {
            touch(focus.screens.values.filter { $0.ballots === ballots })
        }
    }

    /// Drops cached ballots after a change other than a vote.
    func forgetBallots() {
        for ballots in screening.ballots.values {
            ballots.forget()
            touch(ballots.screens.values)
        }
    }

    /// Removes a filter that no longer exists from the screens that had selected it.
    func drop(_ filter: String, in section: String, from view: SharedView) {
        let gone = ComponentQuery.FilterID(section: section, filter: filter)
        var screens = Array(view.screens.values)
        domain.inSlices { [self] in
            guard let screen = screens.popLast() else { return false }
            drop([gone], on: screen)
            return true
        } then: {
        }
    }

    private func drop(_ gone: [ComponentQuery.FilterID], on screen: Screen) {
        change(screen) { choices in
            for id in gone { choices.view.selection[id.section].removeAll { $0 == id.filter } }
        } then: { [self] result in
            // If several filters are gone, each is reported separately.
            guard case .failure(.filterNotFound(let section, let filter, _, _)) = result else {
                return
            }
            let next = ComponentQuery.FilterID(section: section, filter: filter)
            if !gone.contains(next) { drop(gone + [next], on: screen) }
        }
    }
}
