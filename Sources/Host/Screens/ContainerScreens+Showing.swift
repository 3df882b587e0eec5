import AtriumKit

// Opens, changes and closes screens.
extension ContainerScreens {
    /// Opens a screen once its first revision can be made.
    func open(
        _ request: ScreenRequest, by owner: String, _ reply: @escaping Answer<Screen>
    ) {
        if let scope = request.scope, container.definition.scope(scope) == nil {
            return reply(.failure(container.scopeNotFound(scope)))
        }
        do throws(HostError) {
            try table.makeRoom(for: owner)
        } catch {
            return reply(.failure(error))
        }
        let screen = Screen(
            table.freshID(), request,
            of: table.account(of: owner), on: self)
        table.insert(screen)
        let selection = request.selection ?? container.filters.preselection
        choose(screen) { choices in
            choices.view = ViewKey(
                scope: request.scope, selection: selection, search: request.search ?? "",
                sort: request.sort,
                limit: request.limit)
        } then: { [self] result in
            if case .failure = result { close(screen) }
            reply(result.map { _ in screen })
        }
    }

    /// Changes a screen's choices once what they show is ready, or not at all.
    ///
    /// The reply is the revision that shows them, once it is on its way.
    func change(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>
    ) {
        queue(screen, edit, then: done) { [self] choices, done in turn(screen, to: choices, done) }
    }

    /// Does the same as ``change(_:_:then:)`` for a user's choices, as the delegate of the scope decides.
    func choose(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>
    ) {
        queue(screen, edit, then: done) { [self] choices, done in
            propose(choices, on: screen, done)
        }
    }

    /// Runs a user's task after those before it; fails with `screenNotFound` if the screen has ended by then.
    ///
    /// What the task finds would otherwise depend on tasks before it that failed for this reason.
    func queue<Outcome>(
        on screen: Screen, _ reply: @escaping Answer<Outcome>,
        _ task: @escaping (@escaping Answer<Outcome>) -> Void
    ) {
        screen.queue { [self] finished in
            let done: Answer<Outcome> = { result in
                reply(result)
                finished()
            }
            guard isOpen(screen) else {
                return done(.failure(.screenNotFound(screen.root.id.text)))
            }
            task(done)
        }
    }

    /// Whether a screen, and the one that it is a part of, have not ended.
    func isOpen(_ screen: Screen) -> Bool {
        table[screen.root.id] === screen.root && !screen.root.isEnded && !screen.isEnded
    }

    /// Edits a screen's choices in its turn, and shows them.
    private func queue(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>,
        showing show: @escaping (Screen.Choices, @escaping Answer<Int>) -> Void
    ) {
        queue(on: screen, done) { [self] done in
            var choices = presentChoices(of: screen)
            edit(&choices)
            show(choices, done)
        }
    }

    /// Does the same as ``change(_:_:then:)``, but is called in the screen's turn.
    func turn(_ screen: Screen, to chosen: Screen.Choices, _ done: @escaping Answer<Int>) {
        prepare(screen, for: chosen) { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let shown):
                guard !container.parts.isEmpty else { return show([shown], on: screen.root, done) }
                ScreenTurn(of: screen.root, in: domain) { [self] all in
                    show(all, on: screen.root, done)
                }.begin(with: shown)
            }
        }
    }

    /// Prepares what a screen should show; a view that others already show is shared.
    func prepare(
        _ screen: Screen, for chosen: Screen.Choices, _ done: @escaping Answer<PreparedView>
    ) {
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
        followTree()
        let places = present(choices.view.places, in: choices.view.scope)
        if places != choices.view.places { choices.view.places = places }
        let known = screening.views[choices.view]
        let wanted = known ?? SharedView(choices.view, on: self)
        let isTyped = screen.view != nil && choices.view.search != screen.choices.view.search
        if known == nil { wanted.isTyped = isTyped } else { wanted.lookAgain(isTyped: isTyped) }
        insert(wanted)
        let isMade = wanted.isReady
        wanted.whenReady(for: screen.account.owner) { [self] error in
            if let error {
                if wanted.screens.isEmpty { forget(wanted) }
                return done(.failure(error))
            }
            let prepared = PreparedView(home: self, screen: screen, choices: choices, view: wanted)
            guard !isMade, wanted.rowCount > Self.manyRows else { return done(.success(prepared)) }
            // Finding this many rows takes a large part of a turn, so encoding them runs in another.
            domain.afterPoll { done(.success(prepared)) }
        }
    }

    /// The number of rows from which a view is found in one turn of the loop, and sent in a later one.
    private static let manyRows = 256

    /// Shows what was prepared, on a screen and its parts together.
    func show(_ prepared: [PreparedView], on root: Screen, _ done: @escaping Answer<Int>) {
        // If the screen was closed meanwhile, nothing is shown.
        let isThere = table[root.id] === root && !root.isEnded
        let left = prepared.filter { isThere && !$0.screen.isEnded }
        for shown in prepared where !isThere || shown.screen.isEnded {
            shown.home.forgetUnused(shown.view)
        }
        guard isThere, !left.isEmpty || prepared.isEmpty else {
            return done(.failure(.screenNotFound(root.id.text)))
        }
        let all = left.map { $0.home.present($0) }
        if let error = table.makeRoom(for: root, all) {
            for (shown, _) in all { shown.home.forgetUnused(shown.view) }
            return done(.failure(error))
        }
        for (shown, focus) in all {
            // Making room may have ended the last other screen of the view.
            shown.home.insert(shown.view)
            shown.home.screening.insert(focus)
            shown.home.show(shown.screen, shown.choices, shown.view, focus)
        }
        table.changed(root)
        root.whenOnItsWay { done(.success($0)) }
    }

    /// Updates what was prepared: items may have been added or removed since.
    private func present(_ prepared: PreparedView) -> (shown: PreparedView, focus: SharedFocus) {
        var shown = prepared
        place(prepared.view)
        shown.view = registered(prepared.view)
        if shown.view !== prepared.view { forgetUnused(prepared.view) }
        shown.choices.share(shown.view.key)
        let subject = present(shown.choices.subject)
        if subject != shown.choices.subject { shown.choices.subject = subject }
        let comments = commentsComponent(beside: shown.choices.view.hidden)
        let key = FocusKey(
            subject: shown.choices.subject, limit: shown.choices.view.limit(of: comments),
            hidden: hiddenTalk(shown.choices.view.hidden))
        let focus = screening[key] ?? SharedFocus(key, on: self)
        // From here on, answers refer to what is shown.
        catchUp(shown.view, focus)
        return (shown, focus)
    }

    /// Drops a view that no screen shows.
    func forgetUnused(_ view: SharedView) { if view.screens.isEmpty { forget(view) } }

    /// Shows another scope on a screen, at the top.
    ///
    /// Selection, search, sort, limits and focus stay. Fails with `scopeNotFound`.
    public func setScope(_ name: String, on screen: Screen, _ reply: @escaping Answer<Int>) {
        screen.queue { [self] finished in
            let done: Answer<Int> = { result in
                reply(result)
                finished()
            }
            guard container.definition.scope(name) != nil else {
                return done(.failure(container.scopeNotFound(name)))
            }
            var choices = presentChoices(of: screen)
            choices.view.go(to: name)
            propose(choices, on: screen, done)
        }
    }

    /// The choices, with the first scope if theirs does not exist.
    func inScope(_ choices: Screen.Choices) -> Screen.Choices {
        let scope = container.scope(choices.view.scope)?.name
        guard scope != choices.view.scope else { return choices }
        var choices = choices
        choices.view.go(to: scope)
        return choices
    }

    /// The comments component whose limit applies to a screen: the first one that the screen does not hide.
    ///
    /// One that the definition hides counts too, since it may be shown while the screen is open.
    private func commentsComponent(beside hidden: Set<String>) -> String {
        let all = container.slots.filter { $0.kind == .comments }
        return (all.first { !hidden.contains($0.name) } ?? all.first)?.name ?? ""
    }

    /// The hidden components that affect what is shown of a subject; screens that hide only others share it.
    private func hiddenTalk(_ hidden: Set<String>) -> Set<String> {
        hidden.filter {
            let kind = container.slot($0)?.kind
            // A removed component may be added again.
            return kind == nil || kind == .votes || kind == .comments
        }
    }

    func show(
        _ screen: Screen, _ choices: Screen.Choices, _ view: SharedView, _ focus: SharedFocus
    ) {
        if screen.view == nil, let actor = screen.actor {
            let ballots = screening.ballots[actor] ?? OwnBallots(actor, in: self)
            screening.ballots[actor] = ballots
            ballots.insert(screen)
            screen.ballots = ballots
        }
        if screen.view !== view {
            leave(screen.view, screen)
            view.screens[screen.id] = screen
            audienceChanged()
            screen.ballots?.show(screen, on: view)
            view.payer.join(screen.account, for: view.state)
            countAudience(ofPartsOf: screen, hiding: choices.view.hidden)
        }
        if screen.focus !== focus {
            leave(screen.focus, screen)
            focus.screens[screen.id] = screen
            focus.payer.join(screen.account, for: focus.state)
        }
        screen.show(choices, view, focus)
    }

    /// Closes a screen.
    func close(_ screen: Screen) {
        for part in screen.parts { part.home?.close(part) }
        table.remove(screen.id)
        screening.failed[screen.id] = nil
        unblock(screen)
        screen.letGo()
        leave(screen.view, screen)
        leave(screen.focus, screen)
        guard let ballots = screen.ballots else { return }
        ballots.remove(screen)
        if ballots.screens.isEmpty { screening.ballots[ballots.actor] = nil }
    }

    /// Empties a part.
    func leave(_ part: Screen) {
        unblock(part)
        leave(part.view, part)
        leave(part.focus, part)
        (part.view, part.focus) = (nil, nil)
    }

    /// Ends all screens: they stop showing changes at once, and are closed in slices.
    func end() {
        var screens = table.screens.values.filter { $0.home === self }
        for screen in screens { screen.freeze() }
        domain.inSlices { [self] in
            guard let screen = screens.popLast() else { return false }
            end(screen)
            return true
        } then: {
        }
    }

    /// Ends a screen, unless it was closed meanwhile.
    func end(_ screen: Screen) {
        guard table[screen.id] === screen else { return }
        screen.end()
        close(screen)
    }

    private func leave(_ view: SharedView?, _ screen: Screen) {
        guard let view else { return }
        view.screens[screen.id] = nil
        audienceChanged()
        screen.ballots?.hide(screen, from: view)
        view.payer.leave(screen.account, to: view.screens.values.first?.account)
        if view.screens.isEmpty { forget(view) }
    }

    private func forget(_ view: SharedView) { screening.remove(view) }

    private func leave(_ focus: SharedFocus?, _ screen: Screen) {
        guard let focus else { return }
        focus.screens[screen.id] = nil
        focus.payer.leave(screen.account, to: focus.screens.values.first?.account)
        if focus.screens.isEmpty { screening.remove(focus) }
    }
}

extension ViewKey {
    /// Goes to another scope, at the top.
    fileprivate mutating func go(to scope: String?) {
        guard scope != self.scope else { return }
        self.scope = scope
        places = []
    }
}
