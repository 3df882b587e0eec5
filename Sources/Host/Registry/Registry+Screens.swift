import AtriumKit
import NIOCore

// Screens.
extension Registry {
    /// Opens a screen on a container, or resumes an open one.
    ///
    /// A screen that can't be resumed is opened anew, and its first revision says why. If the resumed screen has
    /// another reader, this one replaces it.
    ///
    /// - Parameters:
    ///   - request: what the screen shows first, and which screen to resume.
    ///   - caller: the screen's owner: nobody else can act on it.
    ///   - isQuiet: whether a resumed screen sends no revision until something changes.
    ///   - wake: called on the loop, once after each pull, when there is a new revision.
    ///   - reply: the screen's reader; fails with `containerNotFound`, `scopeNotFound`, `filterNotFound`,
    ///     `fieldUnknown` or `limitExceeded`.
    public func openScreen(
        _ request: ScreenRequest, by caller: Caller, isQuiet: Bool = false,
        wake: @escaping @Sendable () -> Void,
        _ reply: @escaping Reply<ScreenReader>
    ) {
        with(request.container, of: caller.user, reply) { [self] container in
            if let resume = request.resume,
                let restoration = state.screens.restorations[resume.screen]
            {
                return restoration.whenOver { [self] in
                    openScreen(request, by: caller, isQuiet: isQuiet, wake: wake, reply)
                }
            }
            var reset: String?
            if let resume = request.resume {
                reset = obstacle(to: resume, request, caller)
                if reset == nil, let screen = state.screens[resume.screen] {
                    let turn = screen.attach(
                        from: resume.revision, reset: nil, isQuiet: isQuiet, wake: wake)
                    return reply(.success(ScreenReader(screen: screen.id, turn: turn)))
                }
            }
            state.homes[container.name]?.open(request, by: caller.actor) { result in
                reply(
                    result.map { screen in
                        let turn = screen.attach(from: nil, reset: reset, wake: wake)
                        return ScreenReader(screen: screen.id, turn: turn)
                    })
            }
        }
    }

    /// Why a screen can't be resumed; nil if it can.
    private func obstacle(
        to resume: ScreenRequest.Resume, _ request: ScreenRequest, _ caller: Caller
    ) -> String? {
        guard let screen = state.screens[resume.screen], !screen.isEnded,
            let home = screen.home
        else {
            return state.screens.absence(
                of: resume.screen, linger: domain.limits.screenLinger)
        }
        if screen.owner != caller.actor { return "The screen is another user's." }
        if screen.actor != request.actor { return "The screen is another actor's." }
        // A user may be allowed to see an actor's ballots without being allowed to choose in the actor's name.
        if screen.agent != request.agent ?? caller.actor {
            return "On the screen items are chosen in the name of \(screen.agent)."
        }
        if home.container.name != request.container {
            return "The screen shows the container \(home.container.name)."
        }
        return nil
    }

    /// A screen's next revision, which contains all changes since the last one; nil when nothing has changed.
    ///
    /// In both cases the reader is woken once there is another revision. Fails with `screenNotFound` when the screen
    /// has ended or has another reader, and with `limitExceeded` when it was ended because its user's screens were
    /// too large.
    public func pullScreen(_ reader: ScreenReader) -> Result<ScreenRevision?, HostError> {
        guard let screen = state.screens[reader.screen] else {
            return .failure(state.screens.failure(of: reader.screen))
        }
        guard screen.turn == reader.turn else {
            return .failure(.screenNotFound(reader.screen.text))
        }
        return screen.pull()
    }

    /// Detaches a screen's reader; the screen lingers for a while, and can be resumed.
    ///
    /// Does nothing if the screen does not exist or has another reader.
    public func leaveScreen(_ reader: ScreenReader) {
        guard let screen = state.screens[reader.screen], screen.detach(reader.turn) else {
            return
        }
        state.screens.linger(screen)
    }

    /// Ends a screen whose reader lost its permission: the screen can't be resumed.
    ///
    /// Does nothing if the screen does not exist or has another reader.
    public func endScreen(_ reader: ScreenReader) {
        guard let screen = state.screens[reader.screen], screen.turn == reader.turn else { return }
        screen.home?.close(screen)
    }

    /// Finds a caller's screen.
    ///
    /// To be called within ``whenRestored(_:_:)``.
    ///
    /// - Returns: the screen, and the screens of its container; nil if the caller has no such screen.
    public func find(
        _ screen: ScreenID, of caller: Caller
    ) -> (screens: ContainerScreens, screen: Screen)? {
        guard let screen = state.screens[screen], screen.owner == caller.actor,
            !screen.isEnded, let home = screen.home
        else { return nil }
        return (home, screen)
    }

    /// Finds a part of a screen.
    ///
    /// - Parameters:
    ///   - part: the path of the part: component names separated by `/`, from the outermost part inwards; nil: the
    ///     screen itself.
    ///   - screen: what ``find(_:of:)`` returned.
    /// - Returns: the part, and the screens of its container; fails with `componentNotFound`.
    public func find(
        _ part: String?, of screen: (screens: ContainerScreens, screen: Screen)
    ) -> Result<(screens: ContainerScreens, screen: Screen), HostError> {
        guard let part else { return .success(screen) }
        guard let found = screen.screen.part(part), let home = found.home else {
            return .failure(
                .componentNotFound(container: screen.screens.container.name, component: part))
        }
        return .success((home, found))
    }

    /// Calls back once a kept screen of an earlier process is restored or gone; at once for all other screens.
    public func whenRestored(_ screen: ScreenID, _ body: @escaping () -> Void) {
        guard let restoration = state.screens.restorations[screen] else { return body() }
        restoration.whenOver(body)
    }
}
