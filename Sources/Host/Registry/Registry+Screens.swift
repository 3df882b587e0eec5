import AtriumKit

// Screens.
extension Registry {
    /// Opens a screen on a container.
    ///
    /// - Parameters:
    ///   - request: what it shows first.
    ///   - caller: whose it is: nobody else can act on it.
    ///   - wake: called on the loop, once after each pull that was answered with nil.
    ///   - reply: its id; fails with `containerNotFound`, `filterNotFound`, `fieldUnknown` or
    ///     `limitExceeded`.
    public func openScreen(
        _ request: ScreenRequest, by caller: Caller, wake: @escaping @Sendable () -> Void,
        _ reply: @escaping Reply<ScreenID>
    ) {
        with(request.container, reply) {
            $0.openScreen(request, by: caller, wake: wake, reply)
        }
    }

    /// A screen's next revision, which stands for all changes since the last; nil: there is none,
    /// and the reader is woken once there is.
    public func pullScreen(_ id: ScreenID, _ reply: @escaping Reply<ScreenSnapshot?>) {
        guard let screen = domain.screens[id] else {
            return reply(.failure(.screenNotFound(id.text)))
        }
        screen.pull(reply)
    }

    /// Closes a screen; one that is not there is passed over.
    public func closeScreen(_ id: ScreenID) {
        guard let screen = domain.screens.removeValue(forKey: id) else { return }
        screen.container?.closeScreen(screen)
    }

    /// Selects a filter; the reply is the revision that shows it, which is on its way.
    public func select(
        _ screen: ScreenID, section: String, filter: String, by caller: Caller,
        _ reply: @escaping Reply<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, section, caller, reply) { .select(id, of: $0, screen: screen.text) }
    }

    /// Deselects a filter; the reply is the revision that shows it.
    public func deselect(
        _ screen: ScreenID, section: String, filter: String, by caller: Caller,
        _ reply: @escaping Reply<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, section, caller, reply) { .deselect(id, of: $0, screen: screen.text) }
    }

    /// Selects nothing; the reply is the revision that shows it.
    public func clear(_ screen: ScreenID, by caller: Caller, _ reply: @escaping Reply<Int>) {
        choose(screen, nil, caller, reply) { .clear($0, screen: screen.text) }
    }

    private func choose(
        _ id: ScreenID, _ section: String?, _ caller: Caller, _ reply: @escaping Reply<Int>,
        _ query: @escaping (Selection) -> ComponentQuery
    ) {
        guard let screen = domain.screens[id], screen.owner == caller.actor,
            let container = screen.container
        else { return reply(.failure(.screenNotFound(id.text))) }
        container.choose(screen, section: section, query, reply)
    }
}
