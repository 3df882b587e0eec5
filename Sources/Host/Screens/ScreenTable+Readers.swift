import AtriumKit

// Readers of screens, and the calls of users on them.
extension ScreenTable {
    /// Why a screen can't be resumed; nil if it can.
    func obstacle(
        to resume: ScreenRequest.Resume, _ request: ScreenRequest, _ caller: Caller
    ) -> String? {
        guard let screen = self[resume.screen], !screen.isEnded,
            let home = screen.home
        else {
            return absence(of: resume.screen, gracePeriod: domain.limits.screenLinger)
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
    public func pull(_ reader: ScreenReader) -> Result<ScreenRevision?, HostError> {
        guard let screen = self[reader.screen] else {
            return .failure(failure(of: reader.screen))
        }
        guard screen.turn == reader.turn else {
            return .failure(.screenNotFound(reader.screen.text))
        }
        return screen.pull()
    }

    /// Detaches a screen from its reader; it can be resumed during a grace period.
    ///
    /// Does nothing if the screen does not exist or has another reader.
    public func leave(_ reader: ScreenReader) {
        guard let screen = self[reader.screen], screen.detach(reader.turn) else {
            return
        }
        startGracePeriod(of: screen)
    }

    /// Ends a screen whose reader lost its permission: the screen can't be resumed.
    ///
    /// Does nothing if the screen does not exist or has another reader.
    public func end(_ reader: ScreenReader) {
        guard let screen = self[reader.screen], screen.turn == reader.turn else { return }
        screen.home?.close(screen)
    }

    /// Finds a caller's screen.
    ///
    /// To be called within ``KeptScreens/whenRestored(_:_:)``.
    ///
    /// - Returns: the screen, and the screens of its container; nil if the caller has no such screen.
    public func find(
        _ screen: ScreenID, of caller: Caller
    ) -> (screens: ContainerScreens, screen: Screen)? {
        guard let screen = self[screen], screen.owner == caller.actor,
            !screen.isEnded, let home = screen.home
        else { return nil }
        return (home, screen)
    }

    /// The screen that a reader has, with the revision that it was sent last; nil when it was sent none yet.
    public func keptScreen(of reader: ScreenReader) -> KeptScreen? {
        guard let screen = self[reader.screen], screen.turn == reader.turn, !screen.owesFirst else {
            return nil
        }
        return KeptScreen(screen)
    }
}

extension ContainerScreens {
    /// Finds a part of a screen.
    ///
    /// - Parameters:
    ///   - part: the path of the part: component names separated by `/`, from the outermost part inwards; nil: the
    ///     screen itself.
    ///   - screen: a screen on the container.
    /// - Returns: the part, and the screens of its container; fails with `componentNotFound`.
    public func find(
        _ part: String?, of screen: Screen
    ) -> Result<(screens: ContainerScreens, screen: Screen), HostError> {
        guard let part else { return .success((self, screen)) }
        guard let found = screen.part(part), let home = found.home else {
            return .failure(.componentNotFound(container: container.name, component: part))
        }
        return .success((home, found))
    }
}
