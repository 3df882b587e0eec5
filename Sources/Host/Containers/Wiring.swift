import AtriumKit
import Index

/// The components that the lists' derived fields come from, and the lists that are being filled.
struct Wiring {
    /// The components whose tallies and counts are in the lists.
    private(set) var votes: String?
    private(set) var comments: String?
    /// Lists that are being filled, whose derived fields are kept up to date already.
    private var filling: [ObjectIdentifier: ContentIndex] = [:]
    /// The number of changes of the wiring that the lists don't fully show yet.
    private var changes = 0
    private var waiting: [() -> Void] = []

    /// Whether the lists fully show the tallies and counts of the present components.
    var isShown: Bool { changes == 0 }

    /// Derives the fields from other components.
    ///
    /// - Returns: which fields have to be derived again; call ``end()`` when that is done. Nil: none.
    fileprivate mutating func change(
        votes: String?, comments: String?
    ) -> (votes: Bool, comments: Bool)? {
        guard votes != self.votes || comments != self.comments else { return nil }
        defer { (self.votes, self.comments, changes) = (votes, comments, changes + 1) }
        return (votes != self.votes, comments != self.comments)
    }

    /// Notes that the lists show a change.
    ///
    /// - Returns: the callbacks that waited for that.
    fileprivate mutating func end() -> [() -> Void] {
        changes -= 1
        guard isShown else { return [] }
        defer { waiting = [] }
        return waiting
    }

    fileprivate mutating func wait(_ body: @escaping () -> Void) { waiting.append(body) }

    /// Adds a list that is being filled.
    fileprivate mutating func fill(_ list: ContentIndex) { filling[ObjectIdentifier(list)] = list }

    /// Removes a list that a component has now, or that was dropped.
    fileprivate mutating func forget(_ list: ContentIndex) { filling[ObjectIdentifier(list)] = nil }

    /// The lists of components, and those that are being filled.
    fileprivate func all(_ lists: [ContentIndex]) -> [ContentIndex] {
        filling.isEmpty ? lists : lists + filling.values
    }
}

// Tallies and comment counts in the lists.
extension Container {
    var derivedLists: [ContentIndex] { wiring.all(slots.compactMap(\.list)) }

    /// Makes the lists show the first votes component and the first comments component.
    ///
    /// Called whenever the components or their order have changed. The values in the lists are replaced in slices:
    /// see ``whenRewired(_:)``.
    func rewire() {
        let change = wiring.change(
            votes: first(.votes)?.name, comments: first(.comments)?.name)
        guard let change else { return }
        structureChanged()
        var works: [Rederivation] = []
        if change.votes {
            screens?.forgetBallots()
            let voted = votedSubjects
            for list in derivedLists {
                works.append(
                    Rederivation(ids: list.talliedItems, subjects: voted) { [self] item in
                        list.setTally(tally(of: .item(item)), for: item)
                    })
            }
        }
        if change.comments {
            let commented = commentedSubjects
            for list in derivedLists {
                works.append(
                    Rederivation(ids: list.commentedItems, subjects: commented) { [self] item in
                        list.setCommentCount(commentCount(of: .item(item)), for: item)
                    })
            }
        }
        rederive(works)
    }

    /// Replaces the derived values in the lists, one item at a time.
    private func rederive(_ works: [Rederivation]) {
        var works = works[...]
        domain.inSlices {
            guard let work = works.first else { return false }
            if !work.step() { works.removeFirst() }
            return true
        } then: { [self] in
            let waiting = wiring.end()
            screens?.changed()
            for body in waiting { body() }
        }
    }

    /// Calls back once the lists show the values of the present components.
    func whenRewired(_ body: @escaping () -> Void) {
        guard !wiring.isShown else { return body() }
        wiring.wait(body)
    }

    private var votedSubjects: some Sequence<Subject> {
        (wiring.votes.flatMap { slot($0)?.own.votes?.tallies } ?? SplitDictionary()).keys
    }

    private var commentedSubjects: some Sequence<Subject> {
        (wiring.comments.flatMap { slot($0)?.own.comments?.counts } ?? SplitDictionary()).keys
    }

    /// The tally of a subject for the lists: the present one, and not that of when the slices began.
    private func tally(of subject: Subject) -> Tally {
        wiring.votes.flatMap { slot($0) }?.tally(of: subject) ?? Tally()
    }

    /// The present number of comments on a subject, for the lists.
    private func commentCount(of subject: Subject) -> Int {
        wiring.comments.flatMap { slot($0) }?.commentCount(of: subject) ?? 0
    }

    /// Whether a list has the present tally and comment count of an item.
    func hasDerived(_ item: String, in list: ContentIndex) -> Bool {
        guard wiring.isShown else { return true }
        return list.derived.tallies[item] ?? Tally() == tally(of: .item(item))
            && list.derived.commentCounts[item] ?? 0 == commentCount(of: .item(item))
    }

    /// Fills in the derived fields of a new list, in slices.
    ///
    /// They are kept up to date from now on, until the list is a component's or ``forget(_:)`` is called.
    func fillDerived(
        _ list: ContentIndex, while isWanted: @escaping () -> Bool, then done: @escaping () -> Void
    ) {
        wiring.fill(list)
        var voted = votedSubjects.makeIterator()
        var commented = commentedSubjects.makeIterator()
        domain.inSlices { [self] in
            guard isWanted() else { return false }
            if let subject = voted.next() {
                if let item = subject.item { list.setTally(tally(of: subject), for: item) }
            } else if let subject = commented.next() {
                guard let item = subject.item else { return true }
                list.setCommentCount(commentCount(of: subject), for: item)
            } else {
                return false
            }
            return true
        } then: {
            if isWanted() { done() }
        }
    }

    /// Notes that a list is a component's now, or was dropped.
    func forget(_ list: ContentIndex) { wiring.forget(list) }
}

/// Replaces the derived values of one list after the wiring has changed, one item at a time.
private final class Rederivation {
    /// The items that have a value in the list.
    private var ids: any IteratorProtocol<String>
    /// The subjects that have a value in the component.
    private var subjects: any IteratorProtocol<Subject>
    private let set: (String) -> Void

    init(
        ids: some Sequence<String>, subjects: some Sequence<Subject>,
        set: @escaping (String) -> Void
    ) {
        self.ids = ids.makeIterator()
        self.subjects = subjects.makeIterator()
        self.set = set
    }

    /// Replaces the values of the next item; false if there is none.
    func step() -> Bool {
        if let item = ids.next() {
            set(item)
        } else if let subject = subjects.next() {
            if let item = subject.item { set(item) }
        } else {
            return false
        }
        return true
    }
}
