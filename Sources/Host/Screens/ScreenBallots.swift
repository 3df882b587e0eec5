import AtriumKit
import Index

/// The ballots of the actors whose screens are open on a container, each kept once for all screens of the actor.
final class ScreenBallots {
    private unowned let screens: ContainerScreens
    private var known: [String: OwnBallots] = [:]

    init(of screens: ContainerScreens) { self.screens = screens }

    private var container: Container { screens.container }

    /// Gives a screen the ballots of its actor.
    func insert(_ screen: Screen) {
        guard let actor = screen.actor else { return }
        let ballots = known[actor] ?? OwnBallots(actor, in: screens)
        known[actor] = ballots
        ballots.insert(screen)
        screen.ballots = ballots
    }

    /// Forgets a screen, and with an actor's last one the ballots.
    func remove(_ screen: Screen) {
        guard let ballots = screen.ballots else { return }
        ballots.remove(screen)
        if ballots.screens.isEmpty { known[ballots.actor] = nil }
    }

    /// Updates an actor's ballot on the actor's screens.
    func update(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot) {
        guard !known.isEmpty, slot.name == container.derived.votes,
            let ballots = container.domain.actors.name(of: actor).flatMap({ known[$0] })
        else { return }
        ballots.update(value, on: subject)
        let updates = screens.updates
        if let item = subject.item {
            for list in container.slots.lazy.compactMap(\.list) {
                list.live.visitHolders(knowing: item) { view in
                    updates.touch(ballots.screens(of: view))
                }
            }
        }
        for focus in (screens.shared.focuses[subject] ?? [:]).values {
            updates.touch(focus.screens.values.filter { $0.ballots === ballots })
        }
    }

    /// Drops cached ballots after a change other than a vote.
    func clear() {
        for ballots in known.values {
            ballots.clear()
            screens.updates.touch(ballots.screens.values)
        }
    }
}
