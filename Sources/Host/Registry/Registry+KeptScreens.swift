import AtriumKit
import NIOCore

// Screens that outlive the process.
extension Registry {
    /// How long restored screens may take until it is known what they show.
    private static let patience = TimeAmount.seconds(5)

    /// Tells what another process would need to know of screens, whenever that changes.
    ///
    /// - Parameter note: called on the loop, from within what changes it; nil: nobody wants to know.
    public func noteScreens(_ note: ((ScreenNote) -> Void)?) {
        domain.screens.note = note
    }

    /// All screens, with what their readers were sent last.
    ///
    /// - Parameter digest: tells what a whole revision shows from everything else.
    /// - Returns: the screens, in no order.
    public func keptScreens(digest: (ScreenRevision) -> Int) -> [KeptScreen] {
        domain.screens.screens.values.compactMap { screen in
            guard var kept = KeptScreen(screen) else { return nil }
            kept.digest = screen.whole().map(digest)
            return kept
        }
    }

    /// The screen that a reader has, and the revision that it was sent last; nil while it has not
    /// been sent any.
    public func standing(of reader: ScreenReader) -> KeptScreen? {
        guard let screen = domain.screens[reader.screen], screen.turn == reader.turn,
            !screen.owesFirst
        else { return nil }
        return KeptScreen(screen)
    }

    /// Brings back the screens of another process, without readers.
    ///
    /// What can't be shown any more (its container, a filter, a field is gone) is left out. They all
    /// stay until ``lingerUnread()``.
    ///
    /// - Parameters:
    ///   - kept: the screens.
    ///   - digest: as it was given to ``keptScreens(digest:)``.
    ///   - reply: how many there are; called once it is known which show what they showed.
    public func restoreScreens(
        _ kept: [KeptScreen], digest: @escaping (ScreenRevision) -> Int,
        _ reply: @escaping (Int) -> Void
    ) {
        let restoring = ScreenRestoring(outstanding: kept.count) { [domain] in
            reply(domain.screens.count)
        }
        guard !kept.isEmpty else { return restoring.finish() }
        domain.after(Self.patience) { restoring.finish() }
        for kept in kept {
            restore(kept) { [self] screen in
                guard let screen else { return restoring.settle() }
                recognise(screen, kept, digest) { restoring.settle() }
            }
        }
    }

    /// Lets screens linger that were restored and have found no reader.
    public func lingerUnread() {
        for screen in domain.screens.screens.values where screen.reader == .gone {
            linger(screen)
        }
    }

    private func restore(_ kept: KeptScreen, _ done: @escaping (Screen?) -> Void) {
        guard let container = containers[kept.container], domain.screens[kept.id] == nil,
            domain.screens.count < domain.limits.screens
        else { return done(nil) }
        let screen = Screen(kept.id, kept.request, owner: kept.owner, on: container)
        domain.screens.insert(screen)
        container.change(screen) { choices in
            choices = kept.choices
        } then: { result in
            switch result {
            case .success: done(screen)
            case .failure:
                container.closeScreen(screen)
                done(nil)
            }
        }
    }

    /// Finds out whether a screen shows what it showed: then its reader goes on from there.
    private func recognise(
        _ screen: Screen, _ kept: KeptScreen, _ digest: @escaping (ScreenRevision) -> Int,
        _ done: @escaping () -> Void
    ) {
        guard let known = kept.digest else {
            screen.goOn(behind: kept.revision, isSame: false)
            return done()
        }
        let look = NIOLoopBound(
            { (turn: Int) in
                guard screen.turn == turn, screen.reader != .gone else { return }
                guard case .success(let revision) = screen.pull() else { return done() }
                // Not settled yet: it wakes us.
                guard let revision else { return }
                screen.goOn(behind: kept.revision, isSame: digest(revision) == known)
                done()
            }, eventLoop: domain.loop)
        let turn = screen.turn + 1
        _ = screen.attach(from: nil, reset: nil) { look.value(turn) }
        look.value(turn)
    }
}

/// Counts the screens down whose restoration is under way.
private final class ScreenRestoring {
    private var outstanding: Int
    private var done: (() -> Void)?

    init(outstanding: Int, _ done: @escaping () -> Void) {
        self.outstanding = outstanding
        self.done = done
    }

    func settle() {
        outstanding -= 1
        if outstanding == 0 { finish() }
    }

    func finish() {
        done?()
        done = nil
    }
}
