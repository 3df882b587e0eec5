// Room for one more screen.
extension Container {
    /// Ends those of a user's screens that wait to be resumed, the longest first, where there would
    /// otherwise be no room for another one.
    func makeRoom(for owner: String) throws(HostError) {
        let (screens, limits) = (domain.screens, domain.limits)
        while true {
            let (limit, value) =
                screens.count(of: owner) >= limits.screensPerUser
                ? ("screensPerUser", limits.screensPerUser) : ("screens", limits.screens)
            guard screens.count(of: owner) >= limits.screensPerUser || screens.count >= value
            else { return }
            guard let oldest = screens.longestLingering(of: owner), let container = oldest.container
            else { throw .limitExceeded(limit: limit, value: value, retryAfter: 5) }
            screens.noteDropped(
                oldest.id,
                "The screen waited for its connection, and made room for another one of its user: "
                    + "there are no more than \(value) (\(limit)).")
            container.closeScreen(oldest)
        }
    }

    /// Ends those that wait to be resumed, the longest first, where there is otherwise no memory for
    /// what a screen is about to show.
    ///
    /// - Returns: what there is none of; nil: there is enough.
    func makeRoom(
        for screen: Screen, _ choices: Screen.Choices, _ view: SharedView, _ focus: SharedFocus
    ) -> HostError? {
        let (screens, account) = (domain.screens, screen.account)
        while true {
            let more =
                account.cost(of: view.state) + account.cost(of: focus.state)
                + screen.cost(of: choices)
            guard let error = account.excess(domain.limits, with: more) else { return nil }
            guard let oldest = screens.longestLingering(of: account.owner), oldest !== screen,
                let container = oldest.container
            else { return error }
            screens.noteDropped(
                oldest.id,
                "The screen waited for its connection, and made room for another one of its user: "
                    + "all may have \(domain.limits.screenBytesPerUser) bytes (screenBytesPerUser)."
            )
            container.closeScreen(oldest)
        }
    }
}

// Room where what screens show has grown.
extension Domain {
    /// Ends screens of a user that keep far more in memory than they may: those first that wait to be
    /// resumed.
    func relieve(_ account: ScreenAccount) {
        while account.isOverdrawn(limits),
            let screen = screens.longestLingering(of: account.owner)
                ?? account.screens.values.first
        {
            screens.noteDropped(
                screen.id,
                "What the screens of its user show has grown beyond twice the "
                    + "\(limits.screenBytesPerUser) bytes that they may have (screenBytesPerUser).",
                account.excess(limits))
            if let container = screen.container {
                container.closeScreen(screen)
            } else {
                screens.remove(screen.id)
            }
            // Its reader is told when it pulls.
            screen.touched()
        }
    }
}
