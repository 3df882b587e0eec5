import AtriumKit
import Index
import JSONCodec
import Store

/// What a purge erases besides the items: the records of their votes and comments.
struct PurgedRecords {
    /// Deletions of single comments, if there are few.
    var changes: [RecordChange] = []
    /// Deletions of all records about an item.
    var purges: [Purge] = []
    /// Updates the other components and the indexes.
    var atCommit: () -> Void = {}

    /// Whether there is nothing to erase.
    var isEmpty: Bool { changes.isEmpty && purges.isEmpty }
}

// Purging: items, with the ballots and comments on them, are erased with one entry. It names the ballots on an item
// as a whole, and so with comments if there are many. Their rows are deleted afterwards, and the component's own
// state forgets them in slices.
//
// The gates of all these components are closed from before the search for records until the outcome of the entry, so
// that nobody votes or comments meanwhile. A component with much to forget keeps its gate closed until that is done:
// a later vote on an item with the same id must not be decided on the old records.
extension Container {
    func purge(
        _ items: [String], from list: String, by caller: Caller,
        _ reply: @escaping Answer<RemoveResult>
    ) {
        let names = [list] + voices.map(\.name)
        gate(names) { [self] in
            let siblings = voices
            guard siblings.allSatisfy({ names.contains($0.name) }) else {
                // Another component was attached meanwhile.
                open(names)
                return purge(items, from: list, by: caller, reply)
            }
            var erasures: [SubjectErasure] = []
            purgeGated(
                items, from: list, siblings, by: caller, atCommit: { erasures = $0 }
            ) { [self] result in
                reply(result)
                open(names.filter { name in !erasures.contains { $0.name == name } })
                for erasure in erasures { run(erasure) }
            }
        }
    }

    /// The components with records about items.
    private var voices: [Slot] { slots.filter { $0.kind == .votes || $0.kind == .comments } }

    private func purgeGated(
        _ items: [String], from list: String, _ siblings: [Slot], by caller: Caller,
        atCommit: @escaping ([SubjectErasure]) -> Void, _ done: @escaping Answer<RemoveResult>
    ) {
        guard let slot = slot(list) else {
            return done(.failure(.componentNotFound(container: name, component: list)))
        }
        // What has to be erased is known only while these components are attached.
        if let absent = siblings.first(where: { !$0.isAttached }) {
            return done(.failure(absent.absence))
        }
        // An item that is also in another list still exists.
        let subjects = items.filter { id in
            !slots.contains { $0 !== slot && ($0.list?.contains(id) ?? false) }
        }.map(Subject.item)
        let votes = siblings.filter { $0.kind == .votes }
        let comments = siblings.filter { $0.kind == .comments }
        CommentSearch(for: subjects, in: comments, of: self).run { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let found):
                var others = PurgedRecords()
                for slot in votes {
                    others.purges += subjects.filter { slot.tally(of: $0) != nil }.map {
                        Purge(
                            container: name, component: slot.name,
                            prefix: Ballot.prefix(subject: $0))
                    }
                }
                others.changes = found.named.map {
                    RecordChange(
                        container: name, component: $0.component, key: $0.key, value: nil)
                }
                for component in found.many {
                    others.purges += subjects.compactMap(\.item).map {
                        Purge(container: name, component: component, item: $0)
                    }
                }
                others.atCommit = { [self] in
                    atCommit(
                        votes.compactMap { showNoBallots(on: subjects, in: $0) }
                            + comments.compactMap { showNoComments(on: subjects, in: $0, found) })
                }
                let command = RemoveCommand(
                    items, from: slot, of: self, by: caller, purging: others, done)
                command.queue(by: caller.user)
            }
        }
    }

    /// Shows empty tallies for purged items.
    ///
    /// - Returns: the erasure that makes the component forget the ballots; nil if there are none.
    private func showNoBallots(on subjects: [Subject], in slot: Slot) -> SubjectErasure? {
        let voted = subjects.filter { slot.tally(of: $0) != nil }
        guard !voted.isEmpty else { return nil }
        let erasure = SubjectErasure(of: voted, from: slot, of: self)
        deliver(voted.map { .tally($0, Tally()) }, from: slot)
        return erasure
    }

    /// Shows purged items without comments, and makes the component forget the comments if they are few.
    ///
    /// - Returns: the erasure that makes it forget many comments; nil if there is no more to do.
    private func showNoComments(
        on subjects: [Subject], in slot: Slot, _ found: CommentSearch.Found
    ) -> SubjectErasure? {
        let named = found.named.filter { $0.component == slot.name }
        let isMany = found.many.contains(slot.name)
        guard isMany || !named.isEmpty else { return nil }
        // A component that is being started may have read the records before the commit, and is asked once it is
        // attached.
        let erasure =
            isMany || !slot.isAttached ? SubjectErasure(of: subjects, from: slot, of: self) : nil
        if erasure == nil { slot.port?.undo(named.map { .removed(key: $0.key) }) }
        let commented = subjects.filter { slot.commentCount(of: $0) != nil }
        deliver(commented.map { .commentCount($0, 0) }, from: slot)
        return erasure
    }
}

extension Ballot {
    /// The prefix of the keys of all ballots on a subject, and of no others.
    fileprivate static func prefix(subject: Subject) -> String { "\(subject.item ?? "")\n" }
}
