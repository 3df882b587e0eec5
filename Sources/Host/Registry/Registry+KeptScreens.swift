import AtriumKit
import NIOCore

// Screens that outlive the process.
extension Registry {
    /// How long screens may take, once their container is loaded, until it is known what they show.
    private static let patience = TimeAmount.seconds(5)
    /// How long those whose container is loaded wait for the containers of their parts.
    private static let partPatience = TimeAmount.seconds(1)

    /// Tells what another process would need to know of screens, whenever that changes.
    ///
    /// - Parameter note: called on the loop, from within what changes it; nil: nobody wants to know.
    public func noteScreens(_ note: ((ScreenNote) -> Void)?) {
        state.screens.note = note
    }

    /// All screens, with what their readers were sent last.
    ///
    /// - Parameter digest: tells what a whole revision shows from everything else.
    /// - Returns: the screens, in no order.
    public func keptScreens(digest: (ScreenRevision) -> Int) -> [KeptScreen] {
        state.screens.screens.values.compactMap { screen in
            if let restoration = state.screens.restorations[screen.id] { return restoration.kept }
            guard var kept = KeptScreen(screen) else { return nil }
            kept.digest = screen.whole().map(digest)
            return kept
        }
    }

    /// The screen that a reader has, and the revision that it was sent last; nil while it has not
    /// been sent any.
    public func standing(of reader: ScreenReader) -> KeptScreen? {
        guard let screen = state.screens[reader.screen], screen.turn == reader.turn,
            !screen.owesFirst
        else { return nil }
        return KeptScreen(screen)
    }

    /// Brings back the screens of another process, without readers.
    ///
    /// They are there at once. Whoever resumes one, or does something on it, waits until its container
    /// is loaded and it is known what it shows; without a reader by then it lingers. A part whose container
    /// takes a second longer says that it is being started, and comes when it can. What can't be
    /// shown any more (its container, a filter, a field is gone) is left out.
    ///
    /// - Parameters:
    ///   - kept: the screens.
    ///   - digest: as it was given to ``keptScreens(digest:)``.
    ///   - reply: how many screens there are; called once it is known which show what they showed.
    public func restoreScreens(
        _ kept: [KeptScreen], digest: @escaping (ScreenRevision) -> Int,
        _ reply: @escaping (Int) -> Void = { _ in }
    ) {
        let taken = kept.filter(takeIn)
        guard !taken.isEmpty else { return reply(state.screens.count) }
        var outstanding = taken.count
        for (names, kept) in Dictionary(grouping: taken, by: \.ownAndOthers) {
            let shown = names.compactMap { containers[$0] }
            // What is written before would be what they do not know.
            for container in shown { container.awaitScreens(kept.count) }
            for screen in kept {
                state.screens.restorations[screen.id]?.whenOver { [state] in
                    for container in shown { container.recogniseScreen() }
                    outstanding -= 1
                    if outstanding == 0 { reply(state.screens.count) }
                }
            }
            whenLoaded(shown.prefix(1)) { [self] in
                var isDue = true
                let goOn = { [self] in
                    guard isDue else { return }
                    isDue = false
                    restore(kept, digest)
                }
                whenLoaded(shown.dropFirst(), goOn)
                if isDue { domain.after(Self.partPatience, goOn) }
            }
        }
    }

    private func whenLoaded(_ containers: ArraySlice<Container>, _ body: @escaping () -> Void) {
        guard let first = containers.first else { return body() }
        first.whenLoaded { [self] in whenLoaded(containers.dropFirst(), body) }
    }

    /// Has a kept screen in the table, nothing on it yet.
    private func takeIn(_ kept: KeptScreen) -> Bool {
        guard let home = state.homes[kept.container], state.screens[kept.id] == nil,
            state.screens.count < domain.limits.screens
        else { return false }
        let screen = Screen(
            kept.id, kept.request, of: state.screens.account(of: kept.owner), on: home)
        screen.keptParts = kept.parts
        state.screens.insert(screen)
        state.screens.restorations[kept.id] = ScreenRestoration(kept)
        return true
    }

    /// Brings back the screens of a container that is loaded.
    private func restore(_ kept: [KeptScreen], _ digest: @escaping (ScreenRevision) -> Int) {
        // The next process will.
        guard !domain.isWaitingOver else { return }
        var rest = kept[...]
        domain.inSlices { [self] in
            guard let kept = rest.popFirst() else { return false }
            restore(kept, digest)
            return true
        } then: { [self] in
            domain.after(Self.patience) { [self] in
                for kept in kept {
                    // Nothing is known of what it would show.
                    if let screen = state.screens[kept.id], screen.view == nil {
                        screen.home?.close(screen)
                    }
                    endRestoration(of: kept, isSame: false)
                }
            }
        }
    }

    private func restore(_ kept: KeptScreen, _ digest: @escaping (ScreenRevision) -> Int) {
        guard let screen = state.screens[kept.id], let home = screen.home else {
            return endRestoration(of: kept, isSame: false)
        }
        home.change(screen) { choices in
            choices = kept.choices
        } then: { [self] result in
            switch result {
            case .success: recognise(screen, kept, digest)
            case .failure:
                home.close(screen)
                endRestoration(of: kept, isSame: false)
            }
        }
    }

    /// Finds out whether a screen shows what it showed: then its reader goes on from there.
    private func recognise(
        _ screen: Screen, _ kept: KeptScreen, _ digest: @escaping (ScreenRevision) -> Int
    ) {
        guard let known = kept.digest else { return endRestoration(of: kept, isSame: false) }
        let look = NIOLoopBound(
            { [self] (turn: Int) in
                guard screen.turn == turn, screen.reader != .gone else { return }
                guard case .success(let revision) = screen.pull() else {
                    return endRestoration(of: kept, isSame: false)
                }
                // Not settled yet: it wakes us.
                guard let revision else { return }
                endRestoration(of: kept, isSame: digest(revision) == known)
            }, eventLoop: domain.loop)
        let turn = screen.turn + 1
        _ = screen.attach(from: nil, reset: nil) { look.value(turn) }
        look.value(turn)
    }

    /// Lets those go on who wait for a screen; it lingers when nobody reads it then.
    private func endRestoration(of kept: KeptScreen, isSame: Bool) {
        guard let restoration = state.screens.restorations.removeValue(forKey: kept.id) else {
            return
        }
        state.screens[kept.id]?.goOn(behind: kept.revision, isSame: isSame)
        restoration.end()
        if let screen = state.screens[kept.id], screen.reader == .gone {
            state.screens.linger(screen)
        }
    }
}
