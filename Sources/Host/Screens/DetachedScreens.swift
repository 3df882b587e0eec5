import DequeModule
import NIOCore

/// The screens that have lost their readers.
///
/// Each is kept for a grace period, so that it can be resumed, unless another screen of its user needs the room.
final class DetachedScreens {
    /// A screen that has lost its reader.
    private struct Wait {
        var id: ScreenID
        var turn: Int
        /// When it will be closed.
        var end: NIODeadline
    }

    private unowned let table: ScreenTable
    /// Each user's detached screens, the longest waiting first; a resumed screen stays listed until it is first.
    private var waits: [String: Deque<Wait>] = [:]
    /// Users who have a timer for their detached screens.
    private var timed: Set<String> = []

    init(of table: ScreenTable) { self.table = table }

    private var domain: Domain { table.domain }

    func removeAll() {
        waits.removeAll()
        timed.removeAll()
    }

    // MARK: The grace period

    /// Keeps a detached screen for a grace period, so that it can be resumed.
    func startGracePeriod(of screen: Screen) {
        let time = TimeAmount.seconds(Int64(domain.limits.screenLinger))
        if insert(screen, until: .now() + time) {
            endGracePeriods(of: screen.owner, after: time)
        }
    }

    /// Closes a user's screens that were not resumed in time; each user has one timer.
    private func endGracePeriods(of owner: String, after time: TimeAmount) {
        domain.timers.after(time) { [weak self] in
            guard let self else { return }
            let now = NIODeadline.now()
            // In slices: hundreds of large screens take a second.
            domain.slices.run { [self] in
                guard let screen = takeOverdue(of: owner, at: now) else { return false }
                screen.home?.close(screen)
                return true
            } then: { [self] in
                if let end = nextEnd(of: owner) { endGracePeriods(of: owner, after: end - now) }
            }
        }
    }

    /// Lists a screen that has lost its reader; returns whether the user has no timer yet, which the caller then
    /// starts with ``nextEnd(of:)``.
    private func insert(_ screen: Screen, until end: NIODeadline) -> Bool {
        let owner = screen.owner
        waits[owner, default: []].append(Wait(id: screen.id, turn: screen.turn, end: end))
        // Keeps the list short: at most about two entries for each of the user's screens, however often they are
        // resumed.
        if waits(of: owner) > 2 * table.count(of: owner) + 16 {
            waits[owner]?.removeAll { self.screen(of: $0) == nil }
        }
        return timed.insert(owner).inserted
    }

    /// The number of a user's entries, including outdated ones.
    func waits(of owner: String) -> Int { waits[owner]?.count ?? 0 }

    /// The user's screen that has been detached the longest; nil: there is none.
    func longest(of owner: String) -> Screen? {
        firstWait(of: owner).flatMap { screen(of: $0) }
    }

    /// Removes an entry whose screen has waited long enough, and returns the screen; nil: there is none.
    private func takeOverdue(of owner: String, at now: NIODeadline) -> Screen? {
        guard let wait = firstWait(of: owner), wait.end <= now else { return nil }
        waits[owner]?.removeFirst()
        return screen(of: wait)
    }

    /// When the user's next detached screen has to be closed; nil: there is none, and the timer ends.
    private func nextEnd(of owner: String) -> NIODeadline? {
        if let wait = firstWait(of: owner) { return wait.end }
        timed.remove(owner)
        return nil
    }

    /// The first of a user's entries that is not outdated.
    private func firstWait(of owner: String) -> Wait? {
        while let wait = waits[owner]?.first {
            if screen(of: wait) != nil { return wait }
            waits[owner]?.removeFirst()
        }
        waits[owner] = nil
        return nil
    }

    /// The screen of an entry; nil: it was closed or resumed since.
    private func screen(of wait: Wait) -> Screen? {
        guard let screen = table[wait.id], screen.turn == wait.turn, screen.reader == .gone else {
            return nil
        }
        return screen
    }

    // MARK: Room for another screen

    /// Ends a user's detached screens, the longest waiting first, until another screen has room.
    func evict(for owner: String) throws(HostError) {
        let limits = domain.limits
        while true {
            let (limit, value) =
                table.count(of: owner) >= limits.screensPerUser
                ? ("screensPerUser", limits.screensPerUser) : ("screens", limits.screens)
            guard table.count(of: owner) >= limits.screensPerUser || table.count >= value
            else { return }
            guard let oldest = longest(of: owner), let home = oldest.home
            else { throw .limitExceeded(limit: limit, value: value, retryAfter: 5) }
            table.recordDrop(
                oldest.id,
                "The screen waited for its connection, and made room for another one of its user: "
                    + "there are no more than \(value) (\(limit)).")
            home.close(oldest)
        }
    }

    /// Ends detached screens, the longest waiting first, until there is memory for what a screen and its parts will
    /// show; returns the limit that is still exceeded.
    func evict(
        for screen: Screen, _ all: [(shown: PreparedView, focus: SharedFocus)]
    ) -> HostError? {
        let account = screen.account
        while true {
            let more = all.reduce(0) { sum, one in
                sum + account.cost(of: one.shown.view.state) + account.cost(of: one.focus.state)
                    + one.shown.screen.cost(of: one.shown.choices)
            }
            guard let error = account.excess(domain.limits, with: more) else { return nil }
            guard let oldest = longest(of: account.owner), oldest !== screen,
                let home = oldest.home
            else { return error }
            table.recordDrop(
                oldest.id,
                "The screen waited for its connection, and made room for another one of its user: "
                    + "all may have \(domain.limits.screenBytesPerUser) bytes (screenBytesPerUser)."
            )
            home.close(oldest)
        }
    }
}
