import AtriumKit
import Index
import JSONCodec
import Store

/// What a purge erases beside the items: the records of what was said about them.
struct PurgedRecords {
    /// Comments, one by one, where they are few.
    var changes: [RecordChange] = []
    /// What was said about an item, however much it is.
    var purges: [Purge] = []
    /// Lets the other components and the indexes follow.
    var atCommit: () -> Void = {}

    /// Whether nothing was said at all.
    var isEmpty: Bool { changes.isEmpty && purges.isEmpty }
}

// A purge: items, and the ballots and comments on them, gone with one entry. It names the items'
// ballots as a whole, and their comments where these are more than a few: their rows go afterwards, and
// out of the component's own state in slices.
//
// The gates of all components concerned are closed from before the records are looked for until the
// entry's outcome is known, so that nobody votes or comments in between. That of a component that has
// much to forget stays closed until it has: whoever votes on an item that is back is judged without it.
extension Container {
    func purge(
        _ items: [String], from list: String, by caller: Caller,
        _ reply: @escaping Answer<RemoveResult>
    ) {
        let names = [list] + voices.map(\.name)
        gate(names) { [self] in
            let siblings = voices
            guard siblings.allSatisfy({ names.contains($0.name) }) else {
                // Another one was attached while this waited.
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

    /// The components that keep what was said about items.
    private var voices: [Slot] { slots.filter { $0.kind == .votes || $0.kind == .comments } }

    private func purgeGated(
        _ items: [String], from list: String, _ siblings: [Slot], by caller: Caller,
        atCommit: @escaping ([SubjectErasure]) -> Void, _ done: @escaping Answer<RemoveResult>
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

    /// Shows the tallies of purged items as empty.
    ///
    /// - Returns: what has the component forget the ballots; nil: there are none.
    private func showNoBallots(on subjects: [Subject], in slot: Slot) -> SubjectErasure? {
        let voted = subjects.filter { slot.tally(of: $0) != nil }
        guard !voted.isEmpty else { return nil }
        let erasure = SubjectErasure(of: voted, from: slot, of: self)
        deliver(voted.map { .tally($0, Tally()) }, from: slot)
        return erasure
    }

    /// Shows that purged items have no comments, and has the component forget them if they are few.
    ///
    /// - Returns: what has it forget many; nil: they are forgotten.
    private func showNoComments(
        on subjects: [Subject], in slot: Slot, _ found: CommentSearch.Found
    ) -> SubjectErasure? {
        let named = found.named.filter { $0.component == slot.name }
        let isMany = found.many.contains(slot.name)
        guard isMany || !named.isEmpty else { return nil }
        // One that is started again may have read them before the commit: it is asked once it is there.
        let erasure =
            isMany || !slot.isAttached ? SubjectErasure(of: subjects, from: slot, of: self) : nil
        if erasure == nil { slot.port?.undo(named.map { .removed(key: $0.key) }) }
        let commented = subjects.filter { slot.commentCount(of: $0) != nil }
        deliver(commented.map { .commentCount($0, 0) }, from: slot)
        return erasure
    }
}

extension Ballot {
    /// With what the keys of all ballots on a subject begin, and no other's.
    fileprivate static func prefix(subject: Subject) -> String { "\(subject.item ?? "")\n" }
}
