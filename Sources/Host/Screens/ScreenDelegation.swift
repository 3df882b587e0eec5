import AtriumKit
import Index
import Logging

extension ContainerScreens {
    /// The part of delegates in what the screens show.
    var delegation: ScreenDelegation { ScreenDelegation(screens: self) }
}

/// The part of delegates in what a container's screens show.
///
/// Changes by a delegate take turns with the users' choices. Choices of a delegate that are invalid are logged, and not
/// shown.
struct ScreenDelegation {
    let screens: ContainerScreens

    private var container: Container { screens.container }
    private var domain: Domain { screens.container.domain }

    /// The delegate for events on a screen: that of its scope, or else of the container.
    func delegate(on screen: Screen) -> Result<ContainerDelegate, HostError> {
        container.delegate(in: screen.choices.view.scope)
    }

    /// Notifies the delegates of the containers around a part of a user's action on it.
    func notifyOuterDelegates(
        _ part: Screen, _ notify: (ContainerDelegate, ScreenReference, _ path: String) -> Void
    ) {
        var path = ""
        var inner = part
        while let state = inner.partState, let outer = state.parent, let home = outer.home {
            path = path.isEmpty ? state.name : "\(state.name)/\(path)"
            if case .success(let delegate) = home.delegation.delegate(on: outer) {
                let screen = ScreenReference(id: outer.id.text, actor: domain.intern(outer.agent))
                let crash = home.container.delegates.crashText(in: outer.choices.view.scope)
                domain.notes.crash.during(crash) { notify(delegate, screen, path) }
            }
            inner = outer
        }
    }
}

// MARK: Choices of delegates

extension ScreenDelegation {
    /// Makes a change that the screen's delegate requested; the delegate is not called for it.
    ///
    /// Other work runs between two such changes, because one may request the next.
    func change(_ screen: Screen, _ edit: @escaping (inout ScreenChoices) -> Void) {
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
            let before = screens.placement.choices(of: screen).inScope(of: container)
            var choices = ScreenChoices(before)
            let crash = container.delegates.crashText(in: before.view.scope)
            domain.notes.crash.during(crash) { edit(&choices) }
            prepare(choices, instead: before, on: screen) { [self] prepared in
                screens.choosing.show(prepared, on: screen) { _ in finished() }
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
        screens.choosing.prepare(screen, for: wanted) { result in
            if case .failure(let error) = result, error.isOfChoices { return refuse(error) }
            done(result)
        }
    }

    /// Converts a delegate's choices to those of a screen; throws for scopes, items and other things that don't
    /// exist.
    private func choices(
        _ choices: ScreenChoices, after other: Screen.Choices
    ) throws(HostError) -> Screen.Choices {
        try container.scopes.check(choices.scope)
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
        if choices.path != other.view.path.map(\.item) {
            wanted.view.path =
                try choices.path.last.map { item throws(HostError) in
                    try screens.paths.path(
                        entering: item, in: container.scopes[choices.scope])
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

// MARK: Calls of delegates, which refer to screens by id

// An id may be that of a part. The delegate of a container around a part reads and changes the part's choices, too.
extension ContainerScreens {
    func choices(of screen: String) -> ScreenChoices? {
        reach(screen).map { ScreenChoices($0.home.placement.choices(of: $0.screen)) }
    }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        if let (home, screen) = reach(screen) { home.delegation.change(screen, edit) }
    }

    func message(_ text: String, on screen: String) {
        table.find(screen, on: self)?.send(message: text)
    }

    func navigate(_ screen: String, to container: String, item: String?) {
        guard Names.isName(container), item.map(ItemID.isNormal) ?? true else {
            return domain.logger.warning(
                "a delegate leads to an invalid container name or item id",
                metadata: [
                    "container": "\(self.container.name)", "to": "\(container.prefix(63))",
                ])
        }
        table.find(screen, on: self)?.send(
            navigation: NavigationTarget(container: container, item: item))
    }

    /// A screen of the container or a part of it, at any level, with the screens of its own container.
    private func reach(_ id: String) -> (home: ContainerScreens, screen: Screen)? {
        guard let screen = table[ScreenID(id)] ?? table.parts[ScreenID(id)], let home = screen.home
        else { return nil }
        var around: Screen? = screen
        while let outer = around {
            if outer.home === self { return (home, screen) }
            around = outer.partState?.parent
        }
        return nil
    }
}

extension ScreenChoices {
    /// A screen's choices, as its delegate sees them.
    init(_ choices: Screen.Choices) {
        let view = choices.view
        self.init(
            scope: view.scope, selection: view.selection, search: view.search, sort: view.sort,
            path: view.path.map(\.item), focus: choices.subject.item, hidden: view.hidden)
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
            .componentUnavailable, .componentFailed:
            false
        }
    }
}
