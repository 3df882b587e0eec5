import AtriumKit
import JSONCodec
import Store

/// What a purge erases beside the items: the records of what was said about them.
struct PurgedRecords {
    var changes: [RecordChange]
    /// Lets the other components and the indexes follow.
    var atCommit: () -> Void

    var isEmpty: Bool { changes.isEmpty }
}

// A purge: items, and the ballots and comments on them, gone with one entry.
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
        collect(subjects, from: siblings) { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let changes):
                let others = PurgedRecords(changes: changes) { [self] in
                    follow(changes, subjects, siblings)
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

    /// Lets components whose records were erased, and the derived fields, show it.
    private func follow(_ changes: [RecordChange], _ subjects: [Subject], _ siblings: [Slot]) {
        for sibling in siblings {
            let erased = changes.filter { $0.component == sibling.name }
            guard !erased.isEmpty else { continue }
            sibling.port?.undo(erased.map { .removed(key: $0.key) })
            for subject in subjects {
                if sibling.tallies[subject] != nil {
                    deliver([.tally(subject, Tally())], from: sibling)
                }
                if sibling.counts[subject] != nil {
                    deliver([.commentCount(subject, 0)], from: sibling)
                }
            }
        }
    }
}
