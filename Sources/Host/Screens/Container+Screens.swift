import AtriumKit

/// What a container keeps for its screens.
struct Screening {
    /// By what was chosen.
    var views: [ViewKey: SharedView] = [:]
    var focuses: [FocusKey: SharedFocus] = [:]
    /// By the actor's name.
    var ballots: [String: OwnBallots] = [:]
    /// Another one when components, their order or their state are others.
    var structure: UInt64 = 1
    /// Another one when items came, went or lie elsewhere.
    var tree: UInt64 = 0
    /// How many commits there were.
    var commits = 0
    /// Whether something happened that the views do not show yet.
    var isDirty = false
    var isFlushing = false
    /// Screens to be woken at the next flush.
    var touched: [Screen] = []
    var blocked: [Screen] = []
}

// What happened, on its way to the screens.
extension Container {
    var structure: UInt64 { screening.structure }

    var commits: Int { screening.commits }

    /// A number that is another one when the filters components may offer something else; nil while
    /// one of them can't be asked.
    var offers: UInt64? {
        var version = screening.structure
        for slot in slots where slot.kind == .filters {
            guard slot.isAttached, let port = slot.port else { return nil }
            for list in slots.lazy.compactMap(\.list) {
                version = version &* 31 &+ list.valuesVersion(of: port.observedFields)
            }
        }
        return version
    }

    /// Something that screens show changed; they follow before anything leaves the loop.
    func screensChanged() {
        guard !screening.isDirty else { return }
        screening.isDirty = true
        domain.flushLater(self)
    }

    /// Components, their order or their state changed.
    func structureChanged() {
        screening.structure += 1
        for focus in screening.focuses.values { focus.touch() }
        screensChanged()
    }

    /// A commit of this container is in the indexes, and the delegate was told: screens follow, of
    /// several commits that came at once with the last.
    func screensCommitted() {
        screening.commits += 1
        screensChanged()
        followTree()
        if !domain.hasArrivals { flushScreens() }
    }

    /// What is said about a subject changed.
    func subjectChanged(_ subject: Subject) {
        guard !screening.focuses.isEmpty else { return }
        for (key, focus) in screening.focuses where key.subject == subject { focus.touch() }
    }

    /// Lets views and focuses follow, and wakes the readers of those that changed.
    func flushScreens() {
        guard screening.isDirty, !screening.isFlushing else { return }
        screening.isFlushing = true
        screening.isDirty = false
        followTree()
        var woken = screening.touched + screening.blocked
        screening.touched.removeAll()
        screening.blocked.removeAll()
        for view in screening.views.values where view.advance() {
            woken += view.screens.values
        }
        for focus in screening.focuses.values where focus.advance() {
            woken += focus.screens.values
        }
        screening.isFlushing = false
        for screen in woken { screen.touched() }
    }
}

// What came of questions.
extension Container {
    /// A screen waits for a component's answer.
    func block(_ screen: Screen) {
        guard !screening.blocked.contains(where: { $0 === screen }) else { return }
        screening.blocked.append(screen)
    }

    func answered(_ view: SharedView) { touch(view.screens.values) }

    func focusAnswered(_ focus: SharedFocus) { touch(focus.screens.values) }

    func ballotsAnswered(_ ballots: OwnBallots) {
        touch(ballots.screens.values.filter(\.isBlocked))
    }

    private func touch(_ screens: some Sequence<Screen>) {
        screening.touched += screens
        if !screening.touched.isEmpty { screensChanged() }
    }

    /// Somebody's ballot is now this.
    func noteBallot(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot) {
        guard !screening.ballots.isEmpty, slot.name == wired.votes,
            let ballots = domain.actors.name(of: actor).flatMap({ screening.ballots[$0] })
        else { return }
        ballots.note(value, on: subject)
        for view in screening.views.values where view.state.shows(subject) {
            touch(view.screens.values.filter { $0.ballots === ballots })
        }
        for focus in screening.focuses.values where focus.key.subject == subject {
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
        for screen in view.screens.values {
            change(screen) { choices in
                choices.view.selection[section].removeAll { $0 == filter }
            } then: { _ in
            }
        }
    }
}

// Screens coming, changing and going.
extension Container {
    /// Opens a screen once its first revision is known to be possible.
    func openScreen(
        _ request: ScreenRequest, by owner: String, _ reply: @escaping Answer<Screen>
    ) {
        if let scope = request.scope, definition.scope(scope) == nil {
            return reply(.failure(scopeNotFound(scope)))
        }
        do throws(HostError) {
            try makeRoom(for: owner)
        } catch {
            return reply(.failure(error))
        }
        let screen = Screen(
            domain.screens.freshID(domain.freshID()), request, owner: owner, on: self)
        domain.screens.insert(screen)
        change(screen) { choices in
            choices.view = ViewKey(
                scope: request.scope, selection: request.selection, search: request.search ?? "",
                sort: request.sort,
                limit: request.limit)
        } then: { [self] result in
            if case .failure = result { closeScreen(screen) }
            reply(result.map { _ in screen })
        }
    }

    /// Changes what was chosen on a screen, as soon as what that shows is there, or not at all.
    ///
    /// What is answered is the revision that shows it, once it is on its way.
    func change(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>
    ) {
        screen.queue { [self] finished in
            var choices = screen.choices
            edit(&choices)
            turn(screen, to: choices) { result in
                done(result)
                finished()
            }
        }
    }

    /// As ``change(_:_:then:)``, when it is the screen's turn already.
    func turn(_ screen: Screen, to chosen: Screen.Choices, _ done: @escaping Answer<Int>) {
        var choices = inScope(chosen)
        do throws(HostError) {
            let view = choices.view
            try domain.limits.check(page: view.limit)
            for limit in view.limits.values { try domain.limits.check(page: limit) }
            try domain.limits.check(
                search: view.search, sort: view.sort, selection: view.selection)
        } catch {
            return done(.failure(error))
        }
        // What is answered from now on is what is shown.
        flushScreens()
        choices.view.places = present(choices.view.places, in: choices.view.scope)
        let view = screening.views[choices.view] ?? SharedView(choices.view, on: self)
        screening.views[choices.view] = view
        view.whenReady { [self] error in
            if let error {
                if view.screens.isEmpty { forget(view) }
                return done(.failure(error))
            }
            // Closed meanwhile: nobody is left to be shown anything.
            guard domain.screens[screen.id] === screen else {
                if view.screens.isEmpty { forget(view) }
                return done(.failure(.screenNotFound(screen.id.text)))
            }
            // Items may have come and gone since.
            let view = registered(view)
            choices.view = view.key
            choices.subject = present(choices.subject)
            let comments = first(.comments)?.name ?? ""
            let key = FocusKey(
                subject: choices.subject, limit: choices.view.limit(of: comments))
            let focus = screening.focuses[key] ?? SharedFocus(key, on: self)
            screening.focuses[key] = focus
            show(screen, choices, view, focus)
            screen.whenOnItsWay { done(.success($0)) }
        }
    }

    func show(
        _ screen: Screen, _ choices: Screen.Choices, _ view: SharedView, _ focus: SharedFocus
    ) {
        if screen.view == nil, let actor = screen.actor {
            let ballots = screening.ballots[actor] ?? OwnBallots(actor, in: self)
            screening.ballots[actor] = ballots
            ballots.screens[screen.id] = screen
            screen.ballots = ballots
        }
        if screen.view !== view {
            leave(screen.view, screen)
            view.screens[screen.id] = screen
        }
        if screen.focus !== focus {
            leave(screen.focus, screen)
            focus.screens[screen.id] = screen
        }
        screen.show(choices, view, focus)
    }

    /// Lets a screen go.
    func closeScreen(_ screen: Screen) {
        domain.screens.remove(screen.id)
        leave(screen.view, screen)
        leave(screen.focus, screen)
        guard let ballots = screen.ballots else { return }
        ballots.screens[screen.id] = nil
        if ballots.screens.isEmpty { screening.ballots[ballots.actor] = nil }
    }

    /// Ends all screens, because the container is gone.
    func endScreens() {
        for screen in domain.screens.screens.values where screen.container === self {
            screen.end()
            closeScreen(screen)
        }
    }

    /// The container's screen with this id.
    func screen(_ id: String) -> Screen? {
        domain.screens[ScreenID(id)].flatMap { $0.container === self ? $0 : nil }
    }

    private func leave(_ view: SharedView?, _ screen: Screen) {
        guard let view else { return }
        view.screens[screen.id] = nil
        if view.screens.isEmpty { forget(view) }
    }

    private func forget(_ view: SharedView) {
        if screening.views[view.key] === view { screening.views[view.key] = nil }
    }

    private func leave(_ focus: SharedFocus?, _ screen: Screen) {
        guard let focus else { return }
        focus.screens[screen.id] = nil
        if focus.screens.isEmpty { screening.focuses[focus.key] = nil }
    }
}
