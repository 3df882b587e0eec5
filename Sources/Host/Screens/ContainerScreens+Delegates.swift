import AtriumKit
import Index
import Logging

// What delegates make of choices, and of selections that components report.
extension ContainerScreens {
    /// Shows a selection that a filters component reported without a request.
    ///
    /// The delegate's message about it was held back, and is sent with the revision.
    func showUnasked(_ event: ComponentEvent, releasing hold: NoticeHold?) {
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
            if let hold { screen.release(hold) }
        }
    }

    func holdNotice(for event: ComponentEvent) -> NoticeHold? {
        guard event.selects else { return nil }
        return event.screen.flatMap { screen($0) }?.holdNotice()
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
                domain.timers.later(end)
            }
            let before = inScope(placement.choices(of: screen))
            var choices = ScreenChoices(before)
            let crash = container.delegates.crashText(in: before.view.scope)
            domain.notes.crash.during(crash) { edit(&choices) }
            prepare(choices, instead: before, on: screen) { [self] prepared in
                show(prepared, on: screen) { _ in finished() }
            } otherwise: { [self] problem in
                logRefused("a delegate's choices are invalid", before, problem)
                finished()
            }
        }
    }

    /// Prepares a delegate's choices in place of the user's; calls `refuse` if these are invalid.
    func prepare(
        _ choices: ScreenChoices, instead other: Screen.Choices, on screen: Screen,
        then done: @escaping Answer<PreparedView>,
        otherwise refuse: @escaping (HostError) -> Void
    ) {
        let wanted: Screen.Choices
        do throws(HostError) {
            wanted = try self.choices(choices, after: other)
        } catch {
            return refuse(error)
        }
        prepare(screen, for: wanted) { result in
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
                    try paths.places(entering: item, in: container.scope(choices.scope))
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

    /// Logs that a delegate's choices can't be shown.
    func logRefused(_ message: Logger.Message, _ choices: Screen.Choices, _ problem: HostError) {
        domain.logger.warning(
            message,
            metadata: [
                "container": "\(container.name)",
                "plugin": "\(container.delegates.plugin(in: choices.view.scope) ?? "")",
                "reason": "\(problem.sentence)",
            ])
    }
}

// Notifies the delegates of surrounding containers.
extension ContainerScreens {
    /// Notifies the delegates of the containers around a part of a user's action on it.
    func notifyOuterDelegates(
        _ part: Screen, _ notify: (ContainerDelegate, ScreenReference, _ path: String) -> Void
    ) {
        var path = ""
        var inner = part
        while let place = inner.place, let outer = place.parent, let home = outer.home {
            path = path.isEmpty ? place.name : "\(place.name)/\(path)"
            if case .success(let delegate) = home.delegate(on: outer) {
                let screen = ScreenReference(id: outer.id.text, actor: domain.intern(outer.agent))
                let crash = home.container.delegates.crashText(in: outer.choices.view.scope)
                domain.notes.crash.during(crash) { notify(delegate, screen, path) }
            }
            inner = outer
        }
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

extension ComponentEvent {
    /// Whether the event changes a selection.
    fileprivate var selects: Bool {
        switch self {
        case .didSelect, .didDeselect, .didClear: true
        default: false
        }
    }
}
