import AtriumKit
import Index
import Store

// Other actions of users on their screens; a reply with a revision is sent once that revision is on its way.
extension ContainerScreens {
<<<<<<< HEAD:Sources/Host/Screens/ContainerScreens+Actions.swift
=======
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
        container.filters.report(to: slot) { [self] in
            slot.ask(query, isOfScreen: true) { [self] result in
                switch result {
                case .success(.selection(let selection, let events)):
                    // The delegate's message is sent with the revision that shows the choices.
                    screen.holdNotice()
                    container.delivery.deliver(events, from: slot)
                    var choices = presentChoices(of: screen)
                    choices.view.selection = selection
                    propose(choices, on: screen) { result in
                        screen.releaseNotice()
                        done(result)
                    }
                case .success: done(.failure(slot.unavailable("It answered something else.")))
                case .failure(let error): container.filters.explain(error, slot, done)
                }
            }
        }
    }

    /// Shows a selection that a filters component reported without a request.
    ///
    /// The delegate's message about it was held back, and is sent with the revision.
    func showUnasked(_ event: ComponentEvent) {
        let selection: Selection
        switch event {
        case .didSelect(_, _, let now, _), .didDeselect(_, _, let now, _): selection = now
        case .didClear: selection = Selection()
        default: return
        }
        guard let screen = event.screen.flatMap({ self.screen($0) }) else { return }
        choose(screen) {
            $0.view.selection = selection
        } then: { _ in
            screen.releaseNotice()
        }
    }

    func holdNotice(for event: ComponentEvent) {
        guard event.selects else { return }
        event.screen.flatMap { screen($0) }?.holdNotice()
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
        slot.ask(.sections, isOfScreen: true) { [self] result in
            if case .success(.sections(let sections)) = result,
                sections.contains(where: { $0.id == section })
            {
                return done(.success(slot))
            }
            find(section, in: slots.dropFirst(), otherwise: first, done)
        }
    }

>>>>>>> 179c35a547af8d43c5de01c6e28b7dcadd2bb626:Sources/Host/Screens/ContainerScreens+Choices.swift
    /// Changes how many entries of a list or of the comments are shown; nil: of all lists and the comments.
    public func resize(
        _ component: String?, to limit: Int, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        if let component {
            guard let kind = container.slot(component)?.kind, kind == .contents || kind == .comments
            else {
                return reply(
                    .failure(.componentNotFound(container: container.name, component: component)))
            }
        }
        change(screen) { choices in
            if let component {
                choices.view.limits[component] = limit
            } else {
                choices.view.limit = limit
                choices.view.limits.removeAll()
            }
        } then: {
            reply($0)
        }
    }

    /// Shows another scope on a screen, at the top.
    ///
    /// Selection, search, sort, limits and focus stay. Fails with `scopeNotFound`.
    public func setScope(_ name: String, on screen: Screen, _ reply: @escaping Answer<Int>) {
        queue(on: screen, reply) { [self] done in
            guard container.definition.scope(name) != nil else {
                return done(.failure(container.scopeNotFound(name)))
            }
            var choices = presentChoices(of: screen)
            choices.view.go(to: name)
            propose(choices, on: screen, done)
        }
    }

    /// Shows an item's children, in the item's list or in the lists for inside an item; fails with `itemNotFound`.
    ///
    /// Going back from there leads to the item's parent, however the user got there.
    public func enter(_ item: String, on screen: Screen, _ reply: @escaping Answer<Int>) {
        queue(on: screen, reply) { [self] done in
            var choices = inScope(presentChoices(of: screen))
            do throws(HostError) {
                choices.view.places = try places(
                    entering: item, in: container.scope(choices.view.scope))
            } catch {
                return done(.failure(error))
            }
            propose(choices, on: screen, done)
        }
    }

    /// Goes back to the entered item's parent; at the top it does nothing.
    public func back(on screen: Screen, _ reply: @escaping Answer<Int>) {
        choose(screen) {
            _ = $0.view.places.popLast()
        } then: {
            reply($0)
        }
    }

    /// Shows votes and comments on an item, nil: on the container; fails with `itemNotFound`.
    public func focus(on item: String?, of screen: Screen, _ reply: @escaping Answer<Int>) {
        if let error = container.absence(of: item) { return reply(.failure(error)) }
        choose(screen) {
            $0.subject = Subject(item: item)
        } then: {
            reply($0)
        }
    }

    /// Hides a component on this screen only, or shows it again.
    ///
    /// Fails with `componentNotFound`, and also if the definition hides the component for everyone.
    public func setHidden(
        _ component: String, _ isHidden: Bool, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        // A component that was removed may still be hidden.
        guard
            container.hasComponent(component)
                || !isHidden && screen.choices.view.hidden.contains(component)
        else {
            return reply(
                .failure(.componentNotFound(container: container.name, component: component)))
        }
        guard isHidden || container.definition.component(component)?.isHidden != true else {
            return reply(
                .failure(
                    .refused(
                        reason: "The component '\(component)' is hidden on all screens of "
                            + "\(container.name).",
                        retryAfter: nil)))
        }
        choose(screen) { choices in
            if isHidden {
                choices.view.hidden.insert(component)
            } else {
                choices.view.hidden.remove(component)
            }
        } then: {
            reply($0)
        }
    }

    /// Notifies the delegate that an item was activated, and posts it under the definition's name.
    ///
    /// The reply is the notification's sequence; nil: the definition has no name for it. Fails with `itemNotFound`.
    public func activate(
        _ item: String, on screen: Screen, _ reply: @escaping Answer<Int64?>
    ) {
        // Its commit is not awaited by what the user does next.
        screen.queue { [self] finished in
            defer { finished() }
            guard isOpen(screen) else {
                return reply(.failure(.screenNotFound(screen.root.id.text)))
            }
            begin(activating: item, on: screen, reply)
        }
    }

    private func begin(
        activating item: String, on screen: Screen, _ reply: @escaping Answer<Int64?>
    ) {
        let scope = container.scope(screen.choices.view.scope)
        guard ItemID.isNormal(item),
            let slot = source(of: item, on: screen.choices.view), let reference = slot.reference
        else { return reply(.failure(.itemNotFound(container: container.name, item: item))) }
        let actors = domain.actors
        let actor = domain.meet(screen.agent)
        let delegate: ContainerDelegate
        switch self.delegate(on: screen) {
        case .success(let found): delegate = found
        case .failure(let error): return reply(.failure(error))
        }
        let notify = {
            let crash = self.container.delegates.crashText(in: screen.choices.view.scope)
            self.domain.notes.crash.during(crash) {
                delegate.contents(reference, didSelect: item, on: screen.id.text, by: actor)
            }
            guard screen.place != nil else { return }
            self.notifyOuterDelegates(screen) { $0.screen($1, part: $2, didSelect: item) }
        }
        guard let verb = scope?.activate ?? container.definition.activate else {
            notify()
            return reply(.success(nil))
        }
        let payload = Payload.object {
            $0.member("component", slot.name)
            $0.member("item", item)
            if let scope { $0.member("scope", scope.name) }
        }
        let (time, topic) = (domain.now(), "\(container.name).items.\(verb)")
        actors.hold(actor)
        container.append(
            changes: [], topic: topic, payload: payload, by: actor, at: time
        ) { [self] result in
            switch result {
            case .success(let commit):
                notify()
                container.announce(topic, commit, time: time, actor: actor, payload: payload)
            case .failure: actors.release(actor)
            }
            reply(result.map(\.sequence))
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
}

extension ViewKey {
    /// Goes to another scope, at the top.
    fileprivate mutating func go(to scope: String?) {
        guard scope != self.scope else { return }
        self.scope = scope
        places = []
    }
}
