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
}
