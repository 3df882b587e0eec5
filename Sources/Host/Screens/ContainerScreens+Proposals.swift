import AtriumKit
import Index
import Logging

// Passes what users chose to the delegate, before it is shown.
extension ContainerScreens {
    /// A way to show choices.
    typealias Way<Outcome> = (Screen, Screen.Choices, @escaping Answer<Outcome>) -> Void

    /// Shows what a user chose, as the delegate of the scope decides; call it in the screen's turn.
    func propose(
        _ chosen: Screen.Choices, on screen: Screen, _ done: @escaping Answer<Int>
    ) {
        let way: Way<Int> = { [self] in turn($0, to: $1, $2) }
        guard screen.place != nil else { return propose(chosen, on: screen, by: way, done) }
        propose(chosen, on: screen, by: way) { [self] result in
            if case .success = result {
                notifyOuterDelegates(screen) { delegate, outer, path in
                    delegate.screen(outer, part: path, didShow: screen.choices.asSeen)
                }
            }
            done(result)
        }
    }

    /// Does the same as ``propose(_:on:_:)``; `way` shows the delegate's choices.
    func propose<Outcome>(
        _ chosen: Screen.Choices, on screen: Screen, by way: @escaping Way<Outcome>,
        _ done: @escaping Answer<Outcome>
    ) {
        var next = inScope(chosen)
        let delegate: ContainerDelegate
        switch container.delegate(in: next.view.scope) {
        case .success(let found): delegate = found
        case .failure(let error): return done(.failure(error))
        }
        // The default delegate returns what the user chose.
        guard type(of: delegate) != ContainerDelegate.self else {
            return way(screen, next, done)
        }
        screen.holdNotice()
        let answered: Answer<Outcome> = { result in
            screen.releaseNotice()
            done(result)
        }
        let asked = next.keepAsSeen()
        let crash = container.delegates.crashText(in: next.view.scope)
        let answer = domain.notes.crash.during(crash) {
            delegate.screen(
                ScreenReference(id: screen.id.text, actor: domain.meet(screen.agent)),
                willShow: asked,
                after: screen.view == nil ? nil : screen.choices.asSeen)
        }
        guard answer != asked else { return way(screen, next, answered) }
        show(answer, instead: next, on: screen, by: way) { [self, next] problem in
            let plugin = container.delegates.plugin(in: next.view.scope) ?? ""
            domain.logger.warning(
                "what a delegate would show can't be shown; the user's choice stands",
                metadata: [
                    "container": "\(container.name)", "plugin": "\(plugin)",
                    "reason": "\(problem.sentence)",
                ])
            way(screen, next, answered)
        } then: {
            answered($0)
        }
    }

    /// Makes a change that the screen's delegate requested; the delegate is not called for it.
    ///
    /// Other work runs between two such changes, because one may request the next.
    func change(_ screen: Screen, asDelegate edit: @escaping (inout ScreenChoices) -> Void) {
        guard screen.awaitEdit() else {
            return domain.logger.warning(
                "a delegate's change of a screen is dropped: too many wait for their turn",
                metadata: [
                    "container": "\(container.name)",
                    "plugin":
                        "\(container.delegates.plugin(in: screen.choices.view.scope) ?? "")",
                ])
        }
        screen.queue { [self] end in
            let finished = { [domain] in
                screen.endEdit()
                domain.later(end)
            }
            let before = inScope(presentChoices(of: screen))
            var choices = ScreenChoices(before)
            let crash = container.delegates.crashText(in: before.view.scope)
            domain.notes.crash.during(crash) { edit(&choices) }
            show(choices, instead: before, on: screen, by: { [self] in turn($0, to: $1, $2) }) {
                [self] problem in
                domain.logger.warning(
                    "what a delegate would show can't be shown",
                    metadata: [
                        "container": "\(container.name)",
                        "plugin": "\(container.delegates.plugin(in: before.view.scope) ?? "")",
                        "reason": "\(problem.sentence)",
                    ])
                finished()
            } then: { _ in
                finished()
            }
        }
    }

    /// Shows a delegate's choices in place of the user's.
    private func show<Outcome>(
        _ choices: ScreenChoices, instead other: Screen.Choices, on screen: Screen,
        by way: Way<Outcome>,
        otherwise refuse: @escaping (HostError) -> Void, then done: @escaping Answer<Outcome>
    ) {
        let wanted: Screen.Choices
        do throws(HostError) {
            wanted = try self.choices(choices, after: other)
        } catch {
            return refuse(error)
        }
        way(screen, wanted) { result in
            if case .failure(let error) = result, error.isOfChoices { return refuse(error) }
            done(result)
        }
    }

    /// Converts a delegate's choices to those of a screen.
    ///
    /// - Throws: an error for scopes, items and other things that don't exist.
    private func choices(
        _ choices: ScreenChoices, after other: Screen.Choices
    ) throws(HostError) -> Screen.Choices {
        if let scope = choices.scope, container.definition.scope(scope) == nil {
            throw container.scopeNotFound(scope)
        }
        let hidden = choices.hidden.subtracting(other.view.hidden)
        if let component = hidden.first(where: { !container.hasComponent($0) }) {
            throw .componentNotFound(container: container.name, component: component)
        }
        var wanted = other
        wanted.view.scope = choices.scope
        wanted.view.selection = choices.selection
        wanted.view.search = choices.search
        wanted.view.sort = choices.sort
        wanted.view.hidden = choices.hidden
        if choices.path != other.view.places.map(\.item) {
            wanted.view.places =
                try choices.path.last.map { item throws(HostError) in
                    try places(entering: item, in: container.scope(choices.scope))
                } ?? []
        }
        if choices.focus != other.subject.item {
            try container.check(choices.focus)
            wanted.subject = Subject(item: choices.focus)
        }
        try domain.limits.check(
            search: choices.search, sort: choices.sort, selection: choices.selection)
        return wanted
    }

    /// The places of a screen that enters an item.
    ///
    /// - Throws: `itemNotFound`, or `limitExceeded` if it lies too deep.
    func places(
        entering item: String, in scope: ScopeDefinition?
    ) throws(HostError) -> [ViewKey.Place] {
        guard ItemID.isNormal(item), let slot = source(of: item, in: scope) else {
            throw .itemNotFound(container: container.name, item: item)
        }
        let limit = domain.limits.screenPlaces
        let places = places(to: item, of: slot, in: scope, limit: limit + 1)
        guard places.count <= limit else {
            throw .limitExceeded(limit: "screenPlaces", value: limit, retryAfter: nil)
        }
        return places
    }
}

extension ScreenChoices {
    /// A screen's choices, as its delegate sees them.
    init(_ choices: Screen.Choices) {
        let view = choices.view
        self.init(
            scope: view.scope, selection: view.selection, search: view.search, sort: view.sort,
            path: view.places.map(\.item), focus: choices.subject.item, hidden: view.hidden)
    }
}

extension HostError {
    /// Whether the choices themselves are invalid; otherwise a limit or an unavailable component is the cause.
    ///
    /// Then the user's choices are shown in place of the delegate's. If the user exceeds a limit, the user gets the
    /// error.
    fileprivate var isOfChoices: Bool {
        switch self {
        case .filterNotFound, .fieldUnknown, .itemNotFound, .scopeNotFound, .parameterInvalid: true
        case .containerNotFound, .componentNotFound, .componentExists, .pluginNotFound,
            .settingInvalid,
            .definitionInvalid, .itemsUnfit, .recordInvalid, .itemInvalid, .fieldInvalid,
            .revisionMismatch,
            .readOnly, .componentNotInScope, .actorNotFound, .commentNotFound, .conflict, .refused,
            .closed,
            .cursorInvalid, .limitExceeded, .topicInvalid, .screenNotFound, .storeUnavailable,
            .noSpace,
            .componentUnavailable:
            false
        }
    }
}
