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
            if let resume = request.resume, keptScreens.isRestoring(resume.screen) {
                return keptScreens.whenRestored(resume.screen) { [self] in
                    openScreen(request, by: caller, isQuiet: isQuiet, wake: wake, reply)
                }
            }
            var reset: String?
            if let resume = request.resume {
                reset = screens.obstacle(to: resume, request, caller)
                if reset == nil, let screen = screens[resume.screen] {
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
}
