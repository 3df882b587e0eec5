import AtriumKit
import Index

// The reader's own ballots and held comments, which no two screens need have in common.
extension Screen {
    /// Whether the ballots on all that is in sight are known; those of before are.
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

    /// The reader's own comments on what the screen is focused on that others are not shown.
    func ownHeld(_ focus: SharedFocus, _ home: ContainerScreens) -> [CommentView] {
        let held = focus.state.held
        guard !held.isEmpty, let actor, let number = home.domain.actors.number(of: actor) else {
            return []
        }
        return held[number] ?? []
    }
}
