import AtriumKit
import DequeModule
import Index
import NIOCore

// What happened, on its way to the screens.
//
// A commit marks the views and focuses that it concerns. They are brought up to now one after the
// other, and the readers of those that changed are woken, all in slices; of several commits that came
// meanwhile with the last. Where an item goes that screens stand in, their view or focus is moved with
// the commit, and the screens one after the other. Whoever reads a screen earlier than its turn comes
// moves it, and brings its view and focus up to now itself: a revision is always of one moment, and a
// commit is never in two. Of an item in which very many stand the views and focuses are moved in slices, too.
extension ContainerScreens {
    var structure: UInt64 { screening.structure }

    var commits: Int { screening.commits }

    /// Whether screens that leave these components out show what there is to filter by.
    func showsFilters(hiding hidden: Set<String>) -> Bool {
        container.slots.contains { $0.kind == .filters && !$0.isHidden(beside: hidden) }
    }

    /// A number that is another one when the filters components may offer something else; nil while
    /// one of them can't be asked.
    var offers: UInt64? {
        if let known = screening.offers, known.version == screening.version { return known.value }
        let offers = presentOffers
        screening.offers = (screening.version, offers)
        return offers
    }

    private var presentOffers: UInt64? {
        let limit = domain.limits.facetValues
        var version = screening.structure &* 31 &+ UInt64(limit)
        version = version &* 31 &+ container.presentDates.version
        for slot in container.slots where slot.kind == .filters {
            guard slot.isAttached, let port = slot.port else { return nil }
            for list in container.slots.lazy.compactMap(\.list) {
                version =
                    version &* 31 &+ list.valuesVersion(of: port.observedFields, atMost: limit)
            }
        }
        return version
    }

    /// Lets views and focuses follow, and wakes the readers of those that changed.
    func flush() {
        guard screening.isDirty, !screening.isFollowing else { return }
        screening.isFollowing = true
        guard !domain.isSpent else { return followInSlices() }
        // Most commits concern few screens: these follow before the commit is replied to.
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

    /// Does the next little thing; false: screens show what there is, and their readers know.
    private func follow() -> Bool {
        if screening.isDirty {
            screening.isDirty = false
            followTree()
            findOutdated()
        } else if placeNext() {
            // Screens are noted by that, one by one.
        } else if container.slots.contains(where: { $0.list?.followChanges() ?? false }) {
            // Views noted themselves.
        } else if let screen = screening.strays.popFirst() {
            moveAlong(screen)
            screen.touched()
        } else if let screen = screening.woken.popFirst() {
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

    /// Notes all views, where something changed that each has to look at.
    private func findOutdated() {
        let seen = Screening.Seen(
            structure: structure, offers: offers,
            flat: container.slots.compactMap { $0.list?.isFlat })
        guard seen != screening.seen else { return }
        let before = screening.seen
        screening.seen = seen
        if before.structure != seen.structure {
            // What they waited for may be no more.
            screening.woken += screening.blocked.values
            screening.blocked.removeAll()
        }
        let isOfFilters = before.structure == seen.structure && before.flat == seen.flat
        for view in screening.views.values where !isOfFilters || view.dependsOnOffers(self) {
            note(view)
        }
    }
}

// Views and focuses, one by one.
extension ContainerScreens {
    /// A view is to be brought up to now.
    func note(_ view: SharedView) {
        guard !view.isQueued else { return }
        view.isQueued = true
        screening.staleViews.append(view)
        schedule()
    }

    /// A focus is to be brought up to now.
    func note(_ focus: SharedFocus) {
        guard !focus.isQueued else { return }
        focus.isQueued = true
        screening.staleFocuses.append(focus)
        schedule()
    }

    /// Brings what a screen shows up to now, before it is read.
    func catchUp(_ screen: Screen) {
        // It may go along with what lies elsewhere.
        if screening.isDirty { followTree() }
        place(screen)
        if let view = screen.view, let focus = screen.focus { catchUp(view, focus) }
    }

    /// Brings a view and a focus up to now, before they are shown.
    func catchUp(_ view: SharedView, _ focus: SharedFocus) {
        if view.version != screening.version { visit(view) }
        if focus.version != screening.version { visit(focus) }
    }

    private func visit(_ view: SharedView) {
        place(view)
        screening.visits += 1
        view.version = screening.version
        if view.advance() { wake(view.screens.values) }
    }

    private func visit(_ focus: SharedFocus) {
        place(focus)
        focus.version = screening.version
        if focus.advance() { wake(focus.screens.values) }
    }

    private func wake(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        screening.woken += screens
        schedule()
    }

    /// The view or the focus of these screens stands elsewhere: they go there one by one, or when they
    /// are read.
    func moveAlong(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        screening.strays += screens
        schedule()
    }

    /// Has all that waits looked after, now or soon.
    func schedule() {
        guard !screening.isFollowing, !screening.isDirty else { return }
        changed()
    }
}

// What came of questions.
extension ContainerScreens {
    /// A screen waits for a component's answer.
    func block(_ screen: Screen) { screening.blocked[screen.id] = screen }

    /// A screen waits for nothing any more.
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
        screening.woken += screens
        changed()
    }

    /// Somebody's ballot is now this.
    func noteBallot(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot) {
        guard !screening.ballots.isEmpty, slot.name == container.wiring.votes,
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
        for focus in (screening.focuses[subject] ?? [:]).values {
            touch(focus.screens.values.filter { $0.ballots === ballots })
        }
    }

    /// Ballots changed otherwise than by votes.
    func forgetBallots() {
        for ballots in screening.ballots.values {
            ballots.forget()
            touch(ballots.screens.values)
        }
    }

    /// A filter is no more: whoever had selected it goes on without.
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
            // Of several that are no more each is told alone.
            guard case .failure(.filterNotFound(let section, let filter, _, _)) = result else {
                return
            }
            let next = ComponentQuery.FilterID(section: section, filter: filter)
            if !gone.contains(next) { drop(gone + [next], on: screen) }
        }
    }
}
