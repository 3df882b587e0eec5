import AtriumKit
import Index

/// Which components the lists' derived fields come from, and which lists have them.
struct Wiring {
    /// The components whose tallies and counts are in the lists now.
    private(set) var votes: String?
    private(set) var comments: String?
    /// Lists that are being filled, and follow the derived fields already.
    private var filling: [ObjectIdentifier: ContentIndex] = [:]
    /// How many of its changes the lists don't show in full yet.
    private var changes = 0
    private var waiting: [() -> Void] = []

    /// Whether the lists show in full what the components of now tell.
    var isShown: Bool { changes == 0 }

    /// Derives fields from other components.
    ///
    /// - Returns: what is to be derived anew; ``end()`` is to be called when it was. Nil: nothing.
    fileprivate mutating func change(
        votes: String?, comments: String?
    ) -> (votes: Bool, comments: Bool)? {
        guard votes != self.votes || comments != self.comments else { return nil }
        defer { (self.votes, self.comments, changes) = (votes, comments, changes + 1) }
        return (votes != self.votes, comments != self.comments)
    }

    /// The lists show a change.
    ///
    /// - Returns: who has waited for that.
    fileprivate mutating func end() -> [() -> Void] {
        changes -= 1
        guard isShown else { return [] }
        defer { waiting = [] }
        return waiting
    }

    fileprivate mutating func wait(_ body: @escaping () -> Void) { waiting.append(body) }

    /// A new list follows from now on.
    fileprivate mutating func fill(_ list: ContentIndex) { filling[ObjectIdentifier(list)] = list }

    /// A list that was filled is a component's now, or dropped.
    fileprivate mutating func forget(_ list: ContentIndex) { filling[ObjectIdentifier(list)] = nil }

    /// The lists of components, and those that are being filled.
    fileprivate func all(_ lists: [ContentIndex]) -> [ContentIndex] {
        filling.isEmpty ? lists : lists + filling.values
    }
}

// What votes and comments components tell of items, in the lists.
extension Container {
    var derivedLists: [ContentIndex] { wiring.all(slots.compactMap(\.list)) }

    /// Lets the lists follow the first votes and the first comments component.
    ///
    /// Called whenever the components or their order changed. What the lists have is replaced in slices:
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

    /// Gives the lists what the components of now tell, an item at a time.
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

    /// Goes on once the lists show what the components of now tell.
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

    /// What the lists show of a subject's votes: as it is now, and not as it was when slices began.
    private func tally(of subject: Subject) -> Tally {
        wiring.votes.flatMap { slot($0) }?.tally(of: subject) ?? Tally()
    }

    /// How many comments of a subject the lists show, now.
    private func commentCount(of subject: Subject) -> Int {
        wiring.comments.flatMap { slot($0) }?.commentCount(of: subject) ?? 0
    }

    /// Whether a list has what the components tell of an item's votes and comments.
    func hasDerived(_ item: String, in list: ContentIndex) -> Bool {
        guard wiring.isShown else { return true }
        return list.derived.tallies[item] ?? Tally() == tally(of: .item(item))
            && list.derived.commentCounts[item] ?? 0 == commentCount(of: .item(item))
    }

    /// Gives a new list the derived fields, in slices.
    ///
    /// It follows each change from now on, until it is a component's list or ``forget(_:)`` is called.
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

    /// A list that was filled is a component's now, or dropped.
    func forget(_ list: ContentIndex) { wiring.forget(list) }
}

/// What a list is given anew after the wiring changed, an item at a time.
private final class Rederivation {
    /// Items of which the list shows something.
    private var ids: any IteratorProtocol<String>
    /// What the component that it follows now told something of.
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

    /// Does the next item; false: there is none.
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
