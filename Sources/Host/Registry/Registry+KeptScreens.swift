import AtriumKit
import NIOCore

// Screens that are kept when the process ends, and restored by the next.
extension Registry {
    /// How long a restored screen may take to show anything, once its container is loaded.
    private static let patience = TimeAmount.seconds(5)
    /// How long screens of a loaded container wait for the containers of their parts.
    private static let partPatience = TimeAmount.seconds(1)

    /// Sets the receiver of what another process needs to know of screens.
    ///
    /// - Parameter note: called on the loop at each change, from within the call that causes it; nil: no receiver.
    public func noteScreens(_ note: ((ScreenNote) -> Void)?) {
        state.screens.note = note
    }

    /// All screens, with the revision that their readers were sent last.
    ///
    /// - Parameter digest: a digest of a whole revision, by which a restored screen can be compared with it.
    /// - Returns: the screens, in no particular order.
    public func keptScreens(digest: (ScreenRevision) -> Int) -> [KeptScreen] {
        state.screens.screens.values.compactMap { screen in
            if let restoration = state.screens.restorations[screen.id] { return restoration.kept }
            guard var kept = KeptScreen(screen) else { return nil }
            kept.digest = screen.whole().map(digest)
            return kept
        }
    }

    /// The screen that a reader has, with the revision that it was sent last; nil when it was sent none yet.
    public func standing(of reader: ScreenReader) -> KeptScreen? {
        guard let screen = state.screens[reader.screen], screen.turn == reader.turn,
            !screen.owesFirst
        else { return nil }
        return KeptScreen(screen)
    }

    /// Restores the screens that another process kept, without readers.
    ///
    /// They exist at once. A call that resumes one, or acts on it, waits until its container is loaded and it is
    /// known what the screen shows. A screen that has no reader by then lingers. A part whose container takes more
    /// than a second longer is shown as being started, and its content follows. A screen that can't be shown any
    /// more, because its container, a filter or a field is gone, is left out.
    ///
    /// - Parameters:
    ///   - kept: the screens.
    ///   - digest: the same function that was passed to ``keptScreens(digest:)``.
    ///   - reply: how many screens there are; called once each is restored or given up.
    public func restoreScreens(
        _ kept: [KeptScreen], digest: @escaping (ScreenRevision) -> Int,
        _ reply: @escaping (Int) -> Void = { _ in }
    ) {
        let taken = kept.filter(takeIn)
        guard !taken.isEmpty else { return reply(state.screens.count) }
        var outstanding = taken.count
        for (names, kept) in Dictionary(grouping: taken, by: \.ownAndOthers) {
            let shown = names.compactMap { containers[$0] }
            // A write before the restored screens are compared would make them differ from what was kept.
            for container in shown { container.gates.awaitScreens(kept.count) }
            for screen in kept {
                state.screens.restorations[screen.id]?.whenOver { [state] in
                    for container in shown { container.gates.recogniseScreen() }
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
        first.loading.whenOver { [self] in whenLoaded(containers.dropFirst(), body) }
    }

    /// Puts a kept screen into the table, without content; false: it can't be restored.
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

    /// Restores the screens of a container that is loaded.
    private func restore(_ kept: [KeptScreen], _ digest: @escaping (ScreenRevision) -> Int) {
        // The daemon is stopping: the next process restores them.
        guard !domain.isWaitingOver else { return }
        var rest = kept[...]
        domain.inSlices { [self] in
            guard let kept = rest.popFirst() else { return false }
            restore(kept, digest)
            return true
        } then: { [self] in
            domain.after(Self.patience) { [self] in
                for kept in kept {
                    // It is still unknown what the screen would show: it is given up.
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

    /// Compares what a screen shows with what was kept of it: if they are equal, its reader continues from there.
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
                // The screen is not settled yet: it calls `look` again.
                guard let revision else { return }
                endRestoration(of: kept, isSame: digest(revision) == known)
            }, eventLoop: domain.loop)
        let turn = screen.turn + 1
        _ = screen.attach(from: nil, reset: nil) { look.value(turn) }
        look.value(turn)
    }

    /// Runs the calls that wait for a restored screen; the screen lingers if none of them reads it.
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
