import AtriumKit
import Index
import Store

extension ContainerScreens {
    /// What users do on the screens, other than to select filters.
    public var actions: ScreenActions { ScreenActions(screens: self) }
}

/// The actions of users on a container's screens, other than the selection of filters.
///
/// A reply with a revision is sent once that revision is on its way.
public struct ScreenActions {
    let screens: ContainerScreens

    private var container: Container { screens.container }
    private var choosing: ScreenChoosing { screens.choosing }

    /// Searches for a text; empty: ends the search.
    public func search(_ text: String, on screen: Screen, _ reply: @escaping Answer<Int>) {
        choosing.choose(screen, { $0.view.search = text }, then: reply)
    }

    /// Sorts by other fields; fails with `fieldUnknown`.
    public func sort(by fields: [String], on screen: Screen, _ reply: @escaping Answer<Int>) {
        choosing.choose(screen, { $0.view.sort = fields }, then: reply)
    }

    /// Changes how many entries of a list or of the comments are shown; nil: of all lists and the comments.
    public func resize(
        _ component: String?, to limit: Int, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        if let component {
            guard let kind = container.slot(component)?.kind, kind == .contents || kind == .comments
            else { return reply(.failure(notFound(component))) }
        }
        choosing.change(screen) { choices in
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

    private func notFound(_ component: String) -> HostError {
        .componentNotFound(container: container.name, component: component)
    }

    /// Shows another scope on a screen, at the top.
    ///
    /// Selection, search, sort, limits and focus stay. Fails with `scopeNotFound`.
    public func setScope(_ name: String, on screen: Screen, _ reply: @escaping Answer<Int>) {
        choosing.queue(on: screen, reply) { [self] done in
            do throws(HostError) {
                try container.scopes.check(name)
            } catch {
                return done(.failure(error))
            }
            var choices = screens.placement.choices(of: screen)
            choices.view.go(to: name)
            choosing.propose(choices, on: screen, done)
        }
    }

    /// Shows an item's children, in the item's list or in the lists for inside an item; fails with `itemNotFound`.
    ///
    /// Going back from there leads to the item's parent, however the user got there.
    public func enter(_ item: String, on screen: Screen, _ reply: @escaping Answer<Int>) {
        choosing.queue(on: screen, reply) { [self] done in
            var choices = screens.placement.choices(of: screen).inScope(of: container)
            do throws(HostError) {
                choices.view.path = try screens.paths.path(
                    entering: item, in: container.scopes[choices.view.scope])
            } catch {
                return done(.failure(error))
            }
            choosing.propose(choices, on: screen, done)
        }
    }

    /// Goes back to the entered item's parent; at the top it does nothing.
    public func back(on screen: Screen, _ reply: @escaping Answer<Int>) {
        choosing.choose(screen) {
            _ = $0.view.path.popLast()
        } then: {
            reply($0)
        }
    }

    /// Shows votes and comments on an item, nil: on the container; fails with `itemNotFound`.
    public func focus(on item: String?, of screen: Screen, _ reply: @escaping Answer<Int>) {
        if let error = container.absence(of: item) { return reply(.failure(error)) }
        choosing.choose(screen) {
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
        else { return reply(.failure(notFound(component))) }
        guard isHidden || container.definition.component(component)?.isHidden != true else {
            return reply(
                .failure(
                    .refused(
                        reason: "The component '\(component)' is hidden on all screens of "
                            + "\(container.name).",
                        retryAfter: nil)))
        }
        choosing.choose(screen) { choices in
            if isHidden {
                choices.view.hidden.insert(component)
            } else {
                choices.view.hidden.remove(component)
            }
        } then: {
            reply($0)
        }
    }
}

// MARK: Activation of items

extension ScreenActions {
    /// Notifies the delegate that an item was activated, and posts it under the definition's name.
    ///
    /// The reply is the notification's sequence; nil: the definition has no name for it. Fails with `itemNotFound`.
    public func activate(
        _ item: String, on screen: Screen, _ reply: @escaping Answer<Int64?>
    ) {
        // Its commit is not awaited by what the user does next.
        screen.queue { [self] finished in
            defer { finished() }
            guard screens.table.isOpen(screen) else {
                return reply(.failure(.screenNotFound(screen.root.id.text)))
            }
            begin(activating: item, on: screen, reply)
        }
    }

    private func begin(
        activating item: String, on screen: Screen, _ reply: @escaping Answer<Int64?>
    ) {
        let domain = screens.domain
        let scope = container.scopes[screen.choices.view.scope]
        guard ItemID.isNormal(item),
            let slot = screens.paths.source(of: item, on: screen.choices.view),
            let reference = slot.reference
        else { return reply(.failure(.itemNotFound(container: container.name, item: item))) }
        let actor = domain.intern(screen.agent)
        let delegate: ContainerDelegate
        switch screens.delegation.delegate(on: screen) {
        case .success(let found): delegate = found
        case .failure(let error): return reply(.failure(error))
        }
        let notify = {
            let crash = container.delegates.crashText(in: screen.choices.view.scope)
            domain.notes.crash.during(crash) {
                delegate.contents(reference, didSelect: item, on: screen.id.text, by: actor)
            }
            guard screen.partState != nil else { return }
            screens.delegation.notifyOuterDelegates(screen) {
                $0.screen($1, part: $2, didSelect: item)
            }
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
        let actors = domain.actors
        actors.retain(actor)
        container.lane.append(
            changes: [], topic: topic, payload: payload, by: actor, at: time
        ) { [self] result in
            switch result {
            case .success(let commit):
                notify()
                container.delivery.announce(
                    topic, commit, time: time, actor: actor, payload: payload)
            case .failure: actors.release(actor)
            }
            reply(result.map(\.sequence))
        }
    }
}
