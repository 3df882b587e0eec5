import AtriumKit
import Index
import Store

/// The records that a purge erases besides the items: those of their votes and comments.
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

/// A call that erases items, with the ballots and comments on them, with one entry.
///
/// The entry names the ballots on an item as a whole, and so with comments if there are many. Their rows are deleted
/// afterwards, and the component's own state forgets them in slices.
///
/// The gates of all these components are closed from before the search for records until the outcome of the entry, so
/// that nobody votes or comments meanwhile. A component with much to forget keeps its gate closed until that is done:
/// a later vote on an item with the same id must not be decided on the old records.
final class ItemPurge {
    private let items: [String]
    private let list: String
    private let container: Container
    private let caller: Caller
    private let reply: Answer<RemoveResult>
    /// The components whose gates are closed.
    private var gated: [String] = []
    /// The records that components have to remove since the commit.
    private var erasures: [SubjectErasure] = []

    init(
        _ items: [String], from list: String, of container: Container, by caller: Caller,
        _ reply: @escaping Answer<RemoveResult>
    ) {
        self.items = items
        self.list = list
        self.container = container
        self.caller = caller
        self.reply = reply
    }

    /// The components with records about items.
    private var siblings: [Slot] {
        container.slots.filter { $0.kind == .votes || $0.kind == .comments }
    }

    func run() {
        gated = [list] + siblings.map(\.name)
        container.gates.close(gated) {
            guard self.siblings.allSatisfy({ self.gated.contains($0.name) }) else {
                // Another component was attached meanwhile.
                self.container.gates.open(self.gated)
                return self.run()
            }
            self.search()
        } orElse: {
            self.reply(.failure($0))
        }
    }

    /// Finds what there is about the items.
    private func search() {
        guard let slot = container.slot(list) else {
            return end(.failure(.componentNotFound(container: container.name, component: list)))
        }
        let siblings = siblings
        // What has to be erased is known only while these components are attached.
        if let absent = siblings.first(where: { !$0.isAttached }) {
            return end(.failure(absent.absence))
        }
        // An item that is also in another list still exists.
        let subjects = items.filter { id in
            !container.slots.contains { $0 !== slot && ($0.list?.contains(id) ?? false) }
        }.map(Subject.item)
        let votes = siblings.filter { $0.kind == .votes }
        let comments = siblings.filter { $0.kind == .comments }
        CommentSearch(for: subjects, in: comments, of: container).run { result in
            switch result {
            case .failure(let error): self.end(.failure(error))
            case .success(let found):
                var others = self.records(on: subjects, votes, found)
                others.atCommit = {
                    self.erasures =
                        votes.compactMap { self.showNoBallots(on: subjects, in: $0) }
                        + comments.compactMap { self.showNoComments(on: subjects, in: $0, found) }
                }
                RemoveCommand(
                    self.items, from: slot, of: self.container, by: self.caller, purging: others
                ) { self.end($0) }.queue(by: self.caller.user)
            }
        }
    }

    private func records(
        on subjects: [Subject], _ votes: [Slot], _ found: CommentSearch.Found
    ) -> PurgedRecords {
        let name = container.name
        var records = PurgedRecords()
        for slot in votes {
            records.purges += subjects.filter { slot.tally(of: $0) != nil }.map {
                Purge(container: name, component: slot.name, prefix: Ballot.prefix(subject: $0))
            }
        }
        records.changes = found.named.map {
            RecordChange(container: name, component: $0.component, key: $0.key, value: nil)
        }
        for component in found.many {
            records.purges += subjects.compactMap(\.item).map {
                Purge(container: name, component: component, item: $0)
            }
        }
        return records
    }

    /// Shows empty tallies for purged items, and returns the erasure that makes the component forget the ballots, if
    /// there are any.
    private func showNoBallots(on subjects: [Subject], in slot: Slot) -> SubjectErasure? {
        let voted = subjects.filter { slot.tally(of: $0) != nil }
        guard !voted.isEmpty else { return nil }
        let erasure = SubjectErasure(of: voted, from: slot, of: container)
        container.delivery.deliver(voted.map { .tally($0, Tally()) }, from: slot)
        return erasure
    }

    /// Shows purged items without comments, and makes the component forget the comments if they are few; else returns
    /// the erasure that does.
    private func showNoComments(
        on subjects: [Subject], in slot: Slot, _ found: CommentSearch.Found
    ) -> SubjectErasure? {
        let named = found.named.filter { $0.component == slot.name }
        let isMany = found.many.contains(slot.name)
        guard isMany || !named.isEmpty else { return nil }
        // A component that is being started may have read the records before the commit, and is asked once it is
        // attached.
        let erasure =
            isMany || !slot.isAttached
            ? SubjectErasure(of: subjects, from: slot, of: container) : nil
        if erasure == nil { slot.port?.undo(named.map { .removed(key: $0.key) }) }
        let commented = subjects.filter { slot.commentCount(of: $0) != nil }
        container.delivery.deliver(commented.map { .commentCount($0, 0) }, from: slot)
        return erasure
    }

    /// Replies, and opens the gates of components that have nothing to forget.
    private func end(_ result: Result<RemoveResult, HostError>) {
        reply(result)
        container.gates.open(gated.filter { name in !erasures.contains { $0.name == name } })
        for erasure in erasures { container.gates.run(erasure) }
    }
}

extension Ballot {
    /// The prefix of the keys of all ballots on a subject, and of no others.
    fileprivate static func prefix(subject: Subject) -> String { "\(subject.item ?? "")\n" }
}
