import AtriumKit
import JSONCodec
import Store

/// What a purge erases beside the items: the records of what was said about them.
struct PurgedRecords {
    /// The comments, one by one.
    var changes: [RecordChange] = []
    /// The ballots, however many there are on an item.
    var purges: [Purge] = []
    /// Whether nothing was said at all.
    var isEmpty = true
    /// Lets the other components and the indexes follow.
    var atCommit: () -> Void = {}
}

// A purge: items, and the ballots and comments on them, gone with one entry. It names the items'
// ballots as a whole, however many there are: their rows go afterwards, and out of the component's
// own state in slices.
//
// The gates of all components concerned are closed from before the records are looked for until the
// entry's outcome is known, so that nobody votes or comments in between. That of a votes component stays
// closed until it has forgotten the ballots: whoever votes on an item that is back is judged without them.
extension Container {
    func purge(
        _ items: [String], from list: String, by caller: Caller,
        _ reply: @escaping Reply<RemoveResult>
    ) {
        let names = [list] + voices.map(\.name)
        gate(names) { [self] in
            let siblings = voices
            guard siblings.allSatisfy({ names.contains($0.name) }) else {
                // Another one was attached while this waited.
                open(names)
                return purge(items, from: list, by: caller, reply)
            }
            var erasures: [BallotErasure] = []
            purgeGated(
                items, from: list, siblings, by: caller, atCommit: { erasures = $0 }
            ) { [self] result in
                reply(result)
                open(names.filter { name in !erasures.contains { $0.name == name } })
                for erasure in erasures { run(erasure) }
            }
        }
    }

    private func run(_ erasure: BallotErasure) {
        erasures += 1
        erasure.run { [self] in
            erasures -= 1
            open([erasure.name])
        }
    }

    /// The components that keep what was said about items.
    private var voices: [Slot] { slots.filter { $0.kind == .votes || $0.kind == .comments } }

    private func purgeGated(
        _ items: [String], from list: String, _ siblings: [Slot], by caller: Caller,
        atCommit: @escaping ([BallotErasure]) -> Void, _ done: @escaping Answer<RemoveResult>
    ) {
        guard let slot = slot(list) else {
            return done(.failure(.componentNotFound(container: name, component: list)))
        }
        // What was said is known while they are there alone.
        if let absent = siblings.first(where: { !$0.isAttached }) {
            return done(.failure(absent.absence))
        }
        // An item that another list has too is still there.
        let subjects = items.filter { id in
            !slots.contains { $0 !== slot && ($0.list?.contains(id) ?? false) }
        }.map(Subject.item)
        collect(subjects, from: siblings.filter { $0.kind == .comments }) { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let changes):
                let votes = siblings.filter { $0.kind == .votes }
                var others = PurgedRecords(changes: changes)
                others.purges = votes.flatMap { sibling in
                    subjects.filter { sibling.tallies[$0] != nil }.map {
                        Purge(
                            container: name, component: sibling.name,
                            prefix: Ballot.prefix(subject: $0))
                    }
                }
                others.isEmpty = changes.isEmpty && others.purges.isEmpty
                others.atCommit = { [self] in
                    follow(changes, subjects, siblings)
                    atCommit(votes.compactMap { showNoBallots(on: subjects, in: $0) })
                }
                slot.run(remove(items, from: slot, by: caller, others: others, done))
            }
        }
    }

    /// Asks each component in turn for the records about subjects.
    private func collect(
        _ subjects: [Subject], from siblings: [Slot], _ found: [RecordChange] = [],
        _ done: @escaping Answer<[RecordChange]>
    ) {
        guard let sibling = siblings.first, !subjects.isEmpty else { return done(.success(found)) }
        sibling.ask(.recordKeys(subjects), passesGate: true) { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(.recordKeys(let keys)):
                let changes = keys.map {
                    RecordChange(
                        container: name, component: sibling.name, key: $0, value: nil)
                }
                collect(subjects, from: Array(siblings.dropFirst()), found + changes, done)
            case .success:
                done(.failure(sibling.unavailable("It answered something else than was asked.")))
            }
        }
    }

    /// Lets comments components whose records were erased, and the derived fields, show it.
    private func follow(_ changes: [RecordChange], _ subjects: [Subject], _ siblings: [Slot]) {
        for sibling in siblings where sibling.kind == .comments {
            let erased = changes.filter { $0.component == sibling.name }
            guard !erased.isEmpty else { continue }
            sibling.port?.undo(erased.map { .removed(key: $0.key) })
            for subject in subjects where sibling.counts[subject] != nil {
                deliver([.commentCount(subject, 0)], from: sibling)
            }
        }
    }

    /// Shows the tallies of purged items as empty.
    ///
    /// - Returns: what has the component forget the ballots; nil: there are none.
    private func showNoBallots(on subjects: [Subject], in slot: Slot) -> BallotErasure? {
        let voted = subjects.compactMap { subject in
            slot.tallies[subject].map { (subject: subject, ballots: $0.count) }
        }
        guard !voted.isEmpty else { return nil }
        deliver(voted.map { .tally($0.subject, Tally()) }, from: slot)
        return BallotErasure(of: voted, from: slot.name, of: self)
    }
}

extension Ballot {
    /// With what the keys of all ballots on a subject begin, and no other's.
    fileprivate static func prefix(subject: Subject) -> String { "\(subject.item ?? "")\n" }
}
