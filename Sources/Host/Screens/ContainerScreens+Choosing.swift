import AtriumKit
import Index
import Logging

// What users choose on their screens, in the order in which it happens: the filters component answers with the new
// selection, the delegate decides what to show, the view is prepared, and shown together with the parts that follow
// it. The reply is sent once the revision that shows the choice is on its way.
extension ContainerScreens {
    /// Selects a filter.
    public func select(
        section: String, filter: String, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, id, { .select(id, of: $0, screen: screen.id.text) }, reply)
    }

    /// Deselects a filter.
    public func deselect(
        section: String, filter: String, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, id, { .deselect(id, of: $0, screen: screen.id.text) }, reply)
    }

    /// Clears the selection.
    public func clear(_ screen: Screen, _ reply: @escaping Answer<Int>) {
        choose(screen, nil, { .clear($0, screen: screen.id.text) }, reply)
    }

    /// Searches for a text; empty: ends the search.
    public func search(_ text: String, on screen: Screen, _ reply: @escaping Answer<Int>) {
        choose(screen, { $0.view.search = text }, then: reply)
    }

    /// Sorts by other fields; fails with `fieldUnknown`.
    public func sort(by fields: [String], on screen: Screen, _ reply: @escaping Answer<Int>) {
        choose(screen, { $0.view.sort = fields }, then: reply)
    }

    /// Requests the new selection from the section's filters component, and shows it as the container's delegate
    /// decides.
    private func choose(
        _ screen: Screen, _ filter: ComponentQuery.FilterID?,
        _ query: @escaping (Selection) -> ComponentQuery, _ reply: @escaping Answer<Int>
    ) {
        if let filter {
            do throws(HostError) {
                try domain.limits.check(section: filter.section, filter: filter.filter)
            } catch {
                return reply(.failure(error))
            }
        }
        queue(on: screen, reply) { [self] done in
            findFilters(filter?.section) { [self] result in
                switch result {
                case .failure(let error): done(.failure(error))
                case .success(let slot):
                    ask(slot, query(screen.choices.view.selection), screen, done)
                }
            }
        }
    }

    private func ask(
        _ slot: Slot, _ query: ComponentQuery, _ screen: Screen, _ done: @escaping Answer<Int>
    ) {
        let before = screen.choices.view.selection
        container.filters.report(to: slot) { [self] in
            slot.requests.ask(query, for: slot, isOfScreen: true) { [self] result in
                switch result {
                case .success(.selection(let selection, let events)):
                    // The delegate's message is sent with the revision that shows the choices.
                    let hold = screen.holdNotice()
                    // Where it was not selected, nothing was deselected: its delegate has nothing to say of it.
                    let isIdle = if case .deselect = query { selection == before } else { false }
                    container.delivery.deliver(isIdle ? [] : events, from: slot)
                    var choices = placement.choices(of: screen)
                    choices.view.selection = selection
                    propose(choices, on: screen) { result in
                        screen.release(hold)
                        done(result)
                    }
                case .success: done(.failure(.wrongAnswer(of: slot.name)))
                case .failure(let error): container.filters.explain(error, slot, done)
                }
            }
        }
    }

    /// Finds the filters component that has a section; nil: the first one.
    private func findFilters(_ section: String?, _ done: @escaping Answer<Slot>) {
        let candidates = container.slots.filter { $0.kind == .filters }
        guard let first = candidates.first else {
            return done(
                .failure(.filterNotFound(section: section ?? "", filter: "", known: [])))
        }
        guard let section, candidates.count > 1 else { return done(.success(first)) }
        find(section, in: candidates[...], otherwise: first, done)
    }

    private func find(
        _ section: String, in slots: ArraySlice<Slot>, otherwise first: Slot,
        _ done: @escaping Answer<Slot>
    ) {
        // If none has the section, the first one's error lists the known sections.
        guard let slot = slots.first else { return done(.success(first)) }
        slot.requests.ask(.sections, for: slot, isOfScreen: true) { [self] result in
            if case .success(.sections(let sections)) = result,
                sections.contains(where: { $0.id == section })
            {
                return done(.success(slot))
            }
            find(section, in: slots.dropFirst(), otherwise: first, done)
        }
    }
}

// Runs choices one after the other.
extension ContainerScreens {
    /// Changes a screen's choices once what they show is ready, or not at all.
    ///
    /// The reply is the revision that shows them, once it is on its way.
    func change(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>
    ) {
        queue(on: screen, done) { [self] done in
            var choices = placement.choices(of: screen)
            edit(&choices)
            prepare(screen, for: choices) { [self] in show($0, on: screen, done) }
        }
    }

    /// Does the same as ``change(_:_:then:)`` for a user's choices, as the delegate of the scope decides.
    func choose(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>
    ) {
        queue(on: screen, done) { [self] done in
            var choices = placement.choices(of: screen)
            edit(&choices)
            propose(choices, on: screen, done)
        }
    }

    /// Runs a user's task after those before it; fails with `screenNotFound` if the screen has ended by then.
    ///
    /// The findings of the task would otherwise depend on tasks before it that failed for this reason.
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
}

// Passes choices to the delegate, prepares and shows them.
extension ContainerScreens {
    /// Shows what a user chose, as the delegate of the scope decides; call it in the screen's turn.
    func propose(_ chosen: Screen.Choices, on screen: Screen, _ done: @escaping Answer<Int>) {
        decide(chosen, on: screen) { [self] prepared in
            show(prepared, on: screen) { [self] result in
                if case .success = result, screen.place != nil {
                    notifyOuterDelegates(screen) { delegate, outer, path in
                        delegate.screen(outer, part: path, didShow: screen.choices.asSeen)
                    }
                }
                done(result)
            }
        }
    }

    /// Prepares what a user chose on a screen or a part, as the delegate of the scope decides.
    func decide(
        _ chosen: Screen.Choices, on screen: Screen, _ done: @escaping Answer<PreparedView>
    ) {
        var next = inScope(chosen)
        let delegate: ContainerDelegate
        switch container.delegate(in: next.view.scope) {
        case .success(let found): delegate = found
        case .failure(let error): return done(.failure(error))
        }
        // The default delegate returns what the user chose.
        guard type(of: delegate) != ContainerDelegate.self else {
            return prepare(screen, for: next, done)
        }
        let hold = screen.holdNotice()
        let answered: Answer<PreparedView> = { result in
            done(result)
            screen.release(hold)
        }
        let asked = next.choicesSeen()
        let crash = container.delegates.crashText(in: next.view.scope)
        let answer = domain.notes.crash.during(crash) {
            delegate.screen(
                ScreenReference(id: screen.id.text, actor: domain.intern(screen.agent)),
                willShow: asked,
                after: screen.view == nil ? nil : screen.choices.asSeen)
        }
        guard answer != asked else { return prepare(screen, for: next, answered) }
        prepare(answer, instead: next, on: screen, then: answered) { [self, next] problem in
            logRefused(
                "a delegate's choices are invalid; the user's choices are shown", next,
                problem)
            prepare(screen, for: next, answered)
        }
    }

    /// Shows what was prepared for a screen, together with the parts that follow it.
    func show(
        _ prepared: Result<PreparedView, HostError>, on screen: Screen,
        _ done: @escaping Answer<Int>
    ) {
        switch prepared {
        case .failure(let error): done(.failure(error))
        case .success(let prepared):
            guard !container.parts.isEmpty else { return show([prepared], on: screen.root, done) }
            ScreenTurn(of: screen.root, in: domain) { [self] all in
                show(all, on: screen.root, done)
            }.begin(with: prepared)
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
        placement.followTree()
        let places = placement.present(choices.view.places, in: choices.view.scope)
        if places != choices.view.places { choices.view.places = places }
        let known = shared[choices.view]
        let wanted = known ?? SharedView(choices.view, on: self)
        let isTyped = screen.view != nil && choices.view.search != screen.choices.view.search
        if known == nil { wanted.isTyped = isTyped } else { wanted.retryAnswers(isTyped: isTyped) }
        placement.insert(wanted)
        let isMade = wanted.isReady
        wanted.whenReady(for: screen.account.owner) { [self] error in
            if let error {
                if wanted.screens.isEmpty { remove(wanted) }
                return done(.failure(error))
            }
            let prepared = PreparedView(home: self, screen: screen, choices: choices, view: wanted)
            guard !isMade, wanted.rowCount > Self.manyRows else { return done(.success(prepared)) }
            // Finding this many rows takes a large part of a turn, so encoding them runs in another.
            domain.timers.afterPoll { done(.success(prepared)) }
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
            shown.home.removeUnused(shown.view)
        }
        guard isThere, !left.isEmpty || prepared.isEmpty else {
            return done(.failure(.screenNotFound(root.id.text)))
        }
        let all = left.map { $0.home.present($0) }
        if let error = table.evictLingering(for: root, all) {
            for (shown, _) in all { shown.home.removeUnused(shown.view) }
            return done(.failure(error))
        }
        for (shown, focus) in all {
            // Making room may have ended the last other screen of the view.
            shown.home.placement.insert(shown.view)
            shown.home.shared.insert(focus)
            shown.home.show(shown.screen, shown.choices, shown.view, focus)
        }
        table.changed(root)
        root.whenOnItsWay { done(.success($0)) }
    }

    /// Updates what was prepared: items may have been added or removed since.
    private func present(_ prepared: PreparedView) -> (shown: PreparedView, focus: SharedFocus) {
        var shown = prepared
        placement.relocateIfMarked(prepared.view)
        shown.view = placement.registered(prepared.view)
        if shown.view !== prepared.view { removeUnused(prepared.view) }
        shown.choices.share(shown.view.key)
        let subject = placement.present(shown.choices.subject)
        if subject != shown.choices.subject { shown.choices.subject = subject }
        let comments = commentsComponent(beside: shown.choices.view.hidden)
        let key = FocusKey(
            subject: shown.choices.subject, limit: shown.choices.view.mostEntries(of: comments),
            hidden: hiddenFeedback(shown.choices.view.hidden))
        let focus = shared[key] ?? SharedFocus(key, on: self)
        // From here on, answers refer to what is shown.
        updates.catchUp(shown.view, focus)
        return (shown, focus)
    }

    /// Drops a view that no screen shows.
    func removeUnused(_ view: SharedView) { if view.screens.isEmpty { remove(view) } }

    /// The comments component whose limit applies to a screen: the first one that the screen does not hide.
    ///
    /// One that the definition hides counts too, since it may be shown while the screen is open.
    private func commentsComponent(beside hidden: Set<String>) -> String {
        let all = container.slots.filter { $0.kind == .comments }
        return (all.first { !hidden.contains($0.name) } ?? all.first)?.name ?? ""
    }

    /// The hidden components that affect what is shown of a subject; screens that hide only others share it.
    private func hiddenFeedback(_ hidden: Set<String>) -> Set<String> {
        hidden.filter {
            let kind = container.slot($0)?.kind
            // A removed component may be added again.
            return kind == nil || kind == .votes || kind == .comments
        }
    }

    func show(
        _ screen: Screen, _ choices: Screen.Choices, _ view: SharedView, _ focus: SharedFocus
    ) {
        if screen.view == nil { ballots.insert(screen) }
        if screen.view !== view {
            leave(screen.view, screen)
            view.screens[screen.id] = screen
            audience.schedule()
            screen.ballots?.show(screen, on: view)
            view.payer.join(screen.account, for: view.state)
            audience.schedule(forPartsOf: screen, hiding: choices.view.hidden)
        }
        if screen.focus !== focus {
            leave(screen.focus, screen)
            focus.screens[screen.id] = screen
            focus.payer.join(screen.account, for: focus.state)
        }
        screen.show(choices, view, focus)
    }
}

// Ends choices that are no longer possible.
extension ContainerScreens {
    /// Removes a filter that no longer exists from the screens that had selected it.
    func drop(_ filter: String, in section: String, from view: SharedView) {
        let gone = ComponentQuery.FilterID(section: section, filter: filter)
        var screens = Array(view.screens.values)
        domain.slices.run { [self] in
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
