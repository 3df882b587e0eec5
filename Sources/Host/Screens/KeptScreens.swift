import NIOCore

/// Keeps screens when the process ends, and restores those that an earlier process kept.
public final class KeptScreens {
    /// How long a restored screen may take to show anything, once its container is loaded.
    private static let patience = TimeAmount.seconds(5)
    /// How long screens of a loaded container wait for the containers of their parts.
    private static let partPatience = TimeAmount.seconds(1)

    /// A screen that is being restored.
    private struct Restoration {
        let kept: KeptScreen
        let digest: (ScreenRevision) -> Int
        /// The calls that wait for it.
        var waiting: [() -> Void] = []
    }

    private let table: ScreenTable
    private var domain: Domain { table.domain }
    private var restorations: [ScreenID: Restoration] = [:]

    init(in table: ScreenTable) { self.table = table }

    /// All screens, with the revision that their readers were sent last.
    ///
    /// `digest` makes a digest of a whole revision, by which a restored screen can be compared with it.
    public func all(digest: (ScreenRevision) -> Int) -> [KeptScreen] {
        table.screens.values.compactMap { screen in
            if let restoration = restorations[screen.id] { return restoration.kept }
            guard var kept = KeptScreen(screen) else { return nil }
            kept.digest = screen.fullRevision().map(digest)
            return kept
        }
    }

    /// Whether a screen is being restored; ``whenRestored(_:_:)`` waits until it is not.
    func isRestoring(_ screen: ScreenID) -> Bool { restorations[screen] != nil }

    /// Calls back once a kept screen of an earlier process is restored or gone; at once for all other screens.
    public func whenRestored(_ screen: ScreenID, _ body: @escaping () -> Void) {
        guard isRestoring(screen) else { return body() }
        restorations[screen]?.waiting.append(body)
    }

    /// Restores the screens that another process kept, without readers.
    ///
    /// They exist at once. A call that resumes one, or acts on it, waits until its container is loaded and it is
    /// known what the screen shows. The grace period of a screen without a reader begins then. A part whose container
    /// takes more than a second longer is shown as being started, and its content follows. A screen that can't be
    /// shown any more, because its container, a filter or a field is gone, is left out.
    ///
    /// - Parameters:
    ///   - kept: the screens.
    ///   - digest: the same function that was passed to ``all(digest:)``.
    ///   - reply: how many screens there are; called once each is restored or given up.
    public func restore(
        _ kept: [KeptScreen], digest: @escaping (ScreenRevision) -> Int,
        _ reply: @escaping (Int) -> Void = { _ in }
    ) {
        let taken = kept.filter { insert(Restoration(kept: $0, digest: digest)) }
        guard !taken.isEmpty else { return reply(table.count) }
        let homes = table.homes()
        var outstanding = taken.count
        for (names, kept) in Dictionary(grouping: taken, by: \.ownAndOthers) {
            let shown = names.compactMap { homes[$0]?.container }
            // A write before the restored screens are compared would make them differ from what was kept.
            for container in shown { container.gates.awaitScreens(kept.count) }
            for screen in kept {
                whenRestored(screen.id) { [table] in
                    for container in shown { container.gates.recogniseScreen() }
                    outstanding -= 1
                    if outstanding == 0 { reply(table.count) }
                }
            }
            whenLoaded(shown.prefix(1)) { [self] in
                var isDue = true
                let goOn = { [self] in
                    guard isDue else { return }
                    isDue = false
                    restore(kept)
                }
                whenLoaded(shown.dropFirst(), goOn)
                if isDue { domain.timers.after(Self.partPatience, goOn) }
            }
        }
    }

    /// Gives up all restorations without calling anybody back.
    func removeAll() { restorations.removeAll() }

    private func whenLoaded(_ containers: ArraySlice<Container>, _ body: @escaping () -> Void) {
        guard let first = containers.first else { return body() }
        first.loading.whenOver { [self] in whenLoaded(containers.dropFirst(), body) }
    }

    /// Puts a kept screen into the table, without content; false: it can't be restored.
    private func insert(_ restoration: Restoration) -> Bool {
        let kept = restoration.kept
        guard let home = table.homes()[kept.container], table[kept.id] == nil,
            table.count < domain.limits.screens
        else { return false }
        let screen = Screen(kept.id, kept.request, of: table.account(of: kept.owner), on: home)
        screen.keptParts = kept.parts
        table.insert(screen)
        restorations[kept.id] = restoration
        return true
    }

    /// Restores the screens of a container that is loaded.
    private func restore(_ kept: [KeptScreen]) {
        // The daemon is stopping: the next process restores them.
        guard !domain.isWaitingOver else { return }
        var rest = kept[...]
        domain.slices.run { [self] in
            guard let kept = rest.popFirst() else { return false }
            restore(kept)
            return true
        } then: { [self] in
            domain.timers.after(Self.patience) { [self] in
                for kept in kept {
                    // It is still unknown what the screen would show: it is given up.
                    if let screen = table[kept.id], screen.view == nil {
                        screen.home?.close(screen)
                    }
                    end(kept.id, isSame: false)
                }
            }
        }
    }

    private func restore(_ kept: KeptScreen) {
        guard let screen = table[kept.id], let home = screen.home else {
            return end(kept.id, isSame: false)
        }
        home.choosing.change(screen) { choices in
            choices = kept.choices
        } then: { [self] result in
            switch result {
            case .success: recognise(screen)
            case .failure:
                home.close(screen)
                end(screen.id, isSame: false)
            }
        }
    }

    /// Compares what a screen shows with what was kept of it: if they are equal, its reader continues from there.
    private func recognise(_ screen: Screen) {
        guard let restoration = restorations[screen.id], let known = restoration.kept.digest else {
            return end(screen.id, isSame: false)
        }
        let look = NIOLoopBound(
            { [self] (turn: Int) in
                guard screen.turn == turn, screen.reader != .gone else { return }
                guard case .success(let revision) = screen.pull() else {
                    return end(screen.id, isSame: false)
                }
                // The screen is not settled yet: it calls `look` again.
                guard let revision else { return }
                end(screen.id, isSame: restoration.digest(revision) == known)
            }, eventLoop: domain.loop)
        let turn = screen.turn + 1
        _ = screen.attach(from: nil, reset: nil) { look.value(turn) }
        look.value(turn)
    }

    /// Runs the calls that wait for a restored screen; the screen's grace period begins if none of them reads it.
    private func end(_ id: ScreenID, isSame: Bool) {
        guard let restoration = restorations.removeValue(forKey: id) else { return }
        table[id]?.restoreRevision(restoration.kept.revision, isSame: isSame)
        for body in restoration.waiting { body() }
        if let screen = table[id], screen.reader == .gone {
            table.detached.startGracePeriod(of: screen)
        }
    }
}
