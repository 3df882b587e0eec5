import AtriumKit

// Opens and closes screens.
extension ContainerScreens {
    /// Opens a screen once its first revision can be made.
    func open(
        _ request: ScreenRequest, by owner: String, _ reply: @escaping Answer<Screen>
    ) {
        if let scope = request.scope, container.definition.scope(scope) == nil {
            return reply(.failure(container.scopeNotFound(scope)))
        }
        do throws(HostError) {
            try table.evictLingering(for: owner)
        } catch {
            return reply(.failure(error))
        }
        let screen = Screen(
            table.freshID(), request,
            of: table.account(of: owner), on: self)
        table.insert(screen)
        let selection = request.selection ?? container.filters.preselection
        choose(screen) { choices in
            choices.view = ViewKey(
                ViewKey.Members(
                    scope: request.scope, selection: selection, search: request.search ?? "",
                    sort: request.sort, limit: request.limit))
        } then: { [self] result in
            if case .failure = result { close(screen) }
            reply(result.map { _ in screen })
        }
    }

    /// Closes a screen.
    func close(_ screen: Screen) {
        for part in screen.parts { part.home?.close(part) }
        table.remove(screen.id)
        parts.removeFailure(screen)
        updates.unblock(screen)
        screen.release()
        leave(screen.view, screen)
        leave(screen.focus, screen)
        ballots.remove(screen)
    }

    /// Empties a part.
    func leave(_ part: Screen) {
        updates.unblock(part)
        leave(part.view, part)
        leave(part.focus, part)
        (part.view, part.focus) = (nil, nil)
    }

    /// Ends all screens: they stop showing changes at once, and are closed in slices.
    func end() {
        var screens = table.screens.values.filter { $0.home === self }
        for screen in screens { screen.freeze() }
        domain.slices.run { [self] in
            guard let screen = screens.popLast() else { return false }
            end(screen)
            return true
        } then: {
        }
    }

    /// Ends a screen, unless it was closed meanwhile.
    func end(_ screen: Screen) {
        guard table[screen.id] === screen else { return }
        screen.end()
        close(screen)
    }

    func leave(_ view: SharedView?, _ screen: Screen) {
        guard let view else { return }
        view.screens[screen.id] = nil
        audience.schedule()
        screen.ballots?.hide(screen, from: view)
        view.payer.leave(screen.account, to: view.screens.values.first?.account)
        if view.screens.isEmpty { remove(view) }
    }

    func remove(_ view: SharedView) { shared.remove(view) }

    func leave(_ focus: SharedFocus?, _ screen: Screen) {
        guard let focus else { return }
        focus.screens[screen.id] = nil
        focus.payer.leave(screen.account, to: focus.screens.values.first?.account)
        if focus.screens.isEmpty { shared.remove(focus) }
    }
}
