import AtriumKit
import DequeModule

/// Ballots on purged items on their way out of a votes component's own state.
///
/// Nothing of them can be read: the items are not there, the store does not show them, and the
/// tallies are empty since the commit. So it goes on in slices, beside whatever the component is
/// asked; only who puts such an item back waits for it.
final class BallotErasure {
    /// How many ballots are looked up, and forgotten, at a time.
    static let slice = 500

    private unowned let container: Container
    private let name: String
    private let start: Int
    /// Subjects with many ballots alone, others together.
    private var batches: Deque<[Subject]> = []
    private let done: () -> Void

    /// An erasure of the ballots on subjects, each of which has so many.
    init(
        of subjects: [(subject: Subject, ballots: Int)], from slot: Slot, of container: Container,
        _ done: @escaping () -> Void
    ) {
        self.container = container
        self.done = done
        name = slot.name
        start = slot.start
        var room = 0
        for (subject, ballots) in subjects {
            if ballots > room || batches.isEmpty {
                batches.append([])
                room = Self.slice
            }
            batches[batches.count - 1].append(subject)
            room -= ballots
        }
    }

    /// The component, unless it was started anew since: then it has read the store.
    private var slot: Slot? {
        container.slot(name).flatMap { $0.isAttached && $0.start == start ? $0 : nil }
    }

    /// Erases the next subjects' ballots, then the others'.
    func run() {
        guard let slot, let batch = batches.popFirst() else { return done() }
        guard batch.count > 1 else { return page(batch[0], after: nil, []) }
        slot.ask(.recordKeys(batch), passesGate: true) { [self] result in
            guard case .success(.recordKeys(let keys)) = result else { return done() }
            forget([keys])
        }
    }

    /// Looks up the keys of a subject's ballots, page by page, before the first is forgotten: a
    /// component may put them in order anew after each change.
    private func page(_ subject: Subject, after actor: ActorID?, _ found: [[String]]) {
        guard let slot else { return done() }
        let query = ComponentQuery.ballots(subject, after: actor, limit: Self.slice)
        slot.ask(query, passesGate: true) { [self] result in
            guard case .success(.ballots(let ballots)) = result else { return done() }
            let keys = ballots.map { Ballot.key(actor: $0.actor, subject: subject) }
            guard ballots.count == Self.slice, let last = ballots.last else {
                return forget(found + [keys])
            }
            container.domain.after(Domain.pause) { [self] in
                page(subject, after: last.actor, found + [keys])
            }
        }
    }

    private func forget(_ keys: [[String]]) {
        var slices = keys[...]
        container.domain.inSlices { [self] in
            guard let slot, let keys = slices.popFirst() else { return false }
            slot.port?.undo(keys.map { .removed(key: $0) })
            return true
        } then: { [self] in
            container.domain.after(Domain.pause) { [self] in run() }
        }
    }
}
