import NIOCore

// Makes room for one more screen.
extension ScreenTable {
    /// Ends a user's detached screens, the longest waiting first, until another screen has room.
    func evictDetached(for owner: String) throws(HostError) {
        let limits = domain.limits
        while true {
            let (limit, value) =
                count(of: owner) >= limits.screensPerUser
                ? ("screensPerUser", limits.screensPerUser) : ("screens", limits.screens)
            guard count(of: owner) >= limits.screensPerUser || count >= value
            else { return }
            guard let oldest = longestDetached(of: owner), let home = oldest.home
            else { throw .limitExceeded(limit: limit, value: value, retryAfter: 5) }
            recordDrop(
                oldest.id,
                "The screen waited for its connection, and made room for another one of its user: "
                    + "there are no more than \(value) (\(limit)).")
            home.close(oldest)
        }
    }

    /// Ends detached screens, the longest waiting first, until there is memory for what a screen and its parts will
    /// show.
    ///
    /// - Returns: the limit that is still exceeded; nil: there is enough memory.
    func evictDetached(
        for screen: Screen, _ all: [(shown: PreparedView, focus: SharedFocus)]
    ) -> HostError? {
        let account = screen.account
        while true {
            let more = all.reduce(0) { sum, one in
                sum + account.cost(of: one.shown.view.state) + account.cost(of: one.focus.state)
                    + one.shown.screen.cost(of: one.shown.choices)
            }
            guard let error = account.excess(domain.limits, with: more) else { return nil }
            guard let oldest = longestDetached(of: account.owner), oldest !== screen,
                let home = oldest.home
            else { return error }
            recordDrop(
                oldest.id,
                "The screen waited for its connection, and made room for another one of its user: "
                    + "all may have \(domain.limits.screenBytesPerUser) bytes (screenBytesPerUser)."
            )
            home.close(oldest)
        }
    }
}

// Frees memory after what screens show has grown.
extension ScreenTable {
    /// Schedules the end of screens of a user who exceeds the limit by far.
    func endExcessLater(_ account: ScreenAccount) {
        guard account.isOverdrawn(domain.limits), !account.isRelieved else { return }
        account.isRelieved = true
        domain.timers.later { [self] in
            account.isRelieved = false
            endExcess(account)
        }
    }

    /// Ends screens of a user who exceeds the limit by far; detached ones go first.
    private func endExcess(_ account: ScreenAccount) {
        let limits = domain.limits
        while account.isOverdrawn(limits),
            let screen = longestDetached(of: account.owner) ?? account.screens.values.first
        {
            recordDrop(
                screen.id,
                "What the screens of its user show has grown beyond twice the "
                    + "\(limits.screenBytesPerUser) bytes that they may have (screenBytesPerUser).",
                account.excess(limits))
            if let home = screen.home { home.close(screen) } else { remove(screen.id) }
            // Its next pull returns the error.
            screen.touched()
        }
    }
}

// Keeps detached screens, which have no reader.
extension ScreenTable {
    /// Keeps a detached screen for a grace period, so that it can be resumed.
    func startGracePeriod(of screen: Screen) {
        let time = TimeAmount.seconds(Int64(domain.limits.screenLinger))
        if insertDetached(screen, until: .now() + time) {
            endGracePeriods(of: screen.owner, after: time)
        }
    }

    /// Closes a user's screens that were not resumed in time; each user has one timer.
    private func endGracePeriods(of owner: String, after time: TimeAmount) {
        domain.timers.after(time) { [self] in
            let now = NIODeadline.now()
            while let screen = takeOverdue(of: owner, at: now) { screen.home?.close(screen) }
            if let end = nextEnd(of: owner) { endGracePeriods(of: owner, after: end - now) }
        }
    }
}
