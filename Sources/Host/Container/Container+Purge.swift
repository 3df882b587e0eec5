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
// entry's outcome is known, so that nobody votes or comments in between.
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
            purgeGated(items, from: list, siblings, by: caller) { [self] result in
                reply(result)
                open(names)
            }
        }
    }

    /// The components that keep what was said about items.
    private var voices: [Slot] { slots.filter { $0.kind == .votes || $0.kind == .comments } }

    private func purgeGated(
        _ items: [String], from list: String, _ siblings: [Slot], by caller: Caller,
        _ done: @escaping Answer<RemoveResult>
    ) {
        guard let slot = slot(list) else {
            return done(.failure(.componentNotFound(container: name, component: list)))
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
                    subjects.map {
                        Purge(
                            container: name, component: sibling.name,
                            prefix: Ballot.prefix(subject: $0))
                    }
                }
                let isVotedOn = votes.contains { sibling in
                    subjects.contains { sibling.tallies[$0] != nil }
                }
                others.isEmpty = changes.isEmpty && !isVotedOn
                others.atCommit = { [self] in
                    follow(changes, subjects, siblings)
                    for sibling in votes { forgetBallots(on: subjects, in: sibling) }
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

    /// Shows the tallies of purged items as empty, and lets their component forget the ballots.
    private func forgetBallots(on subjects: [Subject], in slot: Slot) {
        let voted = subjects.compactMap { subject in
            slot.tallies[subject].map { (subject: subject, ballots: $0.count) }
        }
        guard !voted.isEmpty else { return }
        deliver(voted.map { .tally($0.subject, Tally()) }, from: slot)
        erasure.begin(voted.compactMap(\.subject.item))
        BallotErasure(of: voted, from: slot, of: self) { [self] in
            for body in erasure.end() { body() }
        }.run()
    }
}

/// Which purged items' ballots are still on their way out of their components.
struct ErasureState {
    private var items: Set<String> = []
    private var running = 0
    private var waiting: [() -> Void] = []

    var isIdle: Bool { running == 0 }

    /// Whether what is said about any of these is not forgotten yet.
    func concerns(_ ids: some Sequence<String>) -> Bool { !items.isDisjoint(with: ids) }

    mutating func begin(_ ids: [String]) {
        running += 1
        items.formUnion(ids)
    }

    /// Does something once all is forgotten.
    mutating func afterwards(_ body: @escaping () -> Void) { waiting.append(body) }

    /// One erasure ended.
    ///
    /// - Returns: what has waited for the last.
    mutating func end() -> [() -> Void] {
        running -= 1
        guard isIdle else { return [] }
        items.removeAll()
        defer { waiting.removeAll() }
        return waiting
    }
}

extension Ballot {
    /// With what the keys of all ballots on a subject begin, and no other's.
    fileprivate static func prefix(subject: Subject) -> String { "\(subject.item ?? "")\n" }
}
