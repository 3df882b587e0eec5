import AtriumKit
import Index

// The reader's own ballots and held comments, which are not shared between screens.
extension Screen {
    /// Whether the ballots on everything in sight are known; those shown by the last revision are.
    func knowsBallots(_ state: ViewState, _ base: Sight?) -> Bool {
        guard let ballots else { return true }
        guard let base, base.generation == ballots.generation else {
            let items = state.lists.flatMap { $0.items.map { Subject.item($0.row.id) } }
            return ballots.knows(items + [choices.subject])
        }
        let new = base.moment.view === state ? [] : state.change(from: base.moment.view).newItems
        if new.isEmpty, ballots.isKnown(choices.subject) { return true }
        return ballots.knows(new.map(Subject.item) + [choices.subject])
    }

    /// The reader's own comments on the screen's subject that other users can't see.
    func ownHeld(_ focus: SharedFocus, _ home: ContainerScreens) -> [CommentView] {
        let held = focus.state.held
        guard !held.isEmpty, let actor, let number = home.domain.actors.number(of: actor) else {
            return []
        }
        return held[number] ?? []
    }
}
