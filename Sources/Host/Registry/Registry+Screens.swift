import AtriumKit
import NIOCore

// Screens.
extension Registry {
    /// Opens a screen on a container, or goes on with one that was open.
    ///
    /// One that can't be resumed starts anew, and its first revision says why. One that is read by
    /// somebody else is taken over.
    ///
    /// - Parameters:
    ///   - request: what it shows first.
    ///   - caller: whose it is: nobody else can act on it.
    ///   - isQuiet: whether a resumption is told nothing as long as nothing has changed.
    ///   - wake: called on the loop, once after each pull, when there is something new.
    ///   - reply: who reads it now; fails with `containerNotFound`, `scopeNotFound`, `filterNotFound`,
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

    /// Why a screen can't be resumed; nil: it can.
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
        // Who may look at an actor's ballots may not choose in their name.
        if screen.agent != request.agent ?? caller.actor {
            return "On the screen items are chosen in the name of \(screen.agent)."
        }
        if home.container.name != request.container {
            return "The screen shows the container \(home.container.name)."
        }
        return nil
    }

    /// A screen's next revision, which stands for all changes since the last; nil: there is none.
    ///
    /// Either way the reader is woken once there is another.
    ///
    /// Fails with `screenNotFound` once the screen has ended, or has another reader; with `limitExceeded` once
    /// it has ended because its user's screens had too much to show.
    public func pullScreen(_ reader: ScreenReader) -> Result<ScreenRevision?, HostError> {
        guard let screen = state.screens[reader.screen] else {
            return .failure(state.screens.failure(of: reader.screen))
        }
        guard screen.turn == reader.turn else {
            return .failure(.screenNotFound(reader.screen.text))
        }
        return screen.pull()
    }

    /// A screen's reader is gone; the screen lingers for a while, to be resumed.
    ///
    /// One that is not there, or has another reader, is passed over.
    public func leaveScreen(_ reader: ScreenReader) {
        guard let screen = state.screens[reader.screen], screen.detach(reader.turn) else {
            return
        }
        state.screens.linger(screen)
    }

    /// Ends a screen whose reader may not have it any more: it does not wait to be resumed.
    ///
    /// One that is not there, or has another reader, is passed over.
    public func endScreen(_ reader: ScreenReader) {
        guard let screen = state.screens[reader.screen], screen.turn == reader.turn else { return }
        screen.home?.close(screen)
    }

    /// Finds a caller's screen.
    ///
    /// Asked for within ``whenRestored(_:_:)``.
    ///
    /// - Returns: the screens of its container, and the screen; nil: they have no such screen.
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
    ///   - part: the name of its component, after those of the parts that it lies in, separated by `/`; nil: the
    ///     screen itself.
    ///   - screen: what ``find(_:of:)`` found.
    /// - Returns: the screens of its container, and the part; fails with `componentNotFound`.
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

    /// Calls back once it is known what a screen of another process shows, or that it is gone; at once for all
    /// others.
    public func whenRestored(_ screen: ScreenID, _ body: @escaping () -> Void) {
        guard let restoration = state.screens.restorations[screen] else { return body() }
        restoration.whenOver(body)
    }
}
