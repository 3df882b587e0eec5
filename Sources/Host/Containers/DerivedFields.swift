import AtriumKit
import Index

/// The fields of lists that come from other components: tallies of votes and numbers of comments.
///
/// They are those of the first votes component and the first comments component. When another one becomes the first,
/// the values in the lists are replaced in slices, and ``whenShown(_:)`` waits for that. A list that is being filled
/// is kept up to date, too, until it is a component's.
final class DerivedFields {
    /// The votes component whose tallies are in the lists.
    private(set) var votes: String?
    /// The comments component whose counts are in the lists.
    private(set) var comments: String?
    /// Lists that are being filled, whose derived fields are kept up to date already.
    private var filling: [ObjectIdentifier: ContentIndex] = [:]
    /// The number of changes of the components that the lists don't fully show yet.
    private var changes = 0
    private var waiting: [() -> Void] = []
    private unowned let container: Container

    init(of container: Container) { self.container = container }

    private var domain: Domain { container.domain }

    /// Whether the lists fully show the tallies and counts of the present components.
    var areShown: Bool { changes == 0 }

    /// The lists of components, and those that are being filled.
    private var lists: [ContentIndex] {
        let lists = container.contents.lists
        return filling.isEmpty ? lists : lists + filling.values
    }

    // MARK: The components that they come from

    /// Makes the lists show the first votes component and the first comments component.
    ///
    /// Called whenever the components or their order have changed. The values in the lists are replaced in slices:
    /// see ``whenShown(_:)``.
    func follow() {
        let before = (votes: votes, comments: comments)
        (votes, comments) = (container.first(.votes)?.name, container.first(.comments)?.name)
        guard (votes, comments) != before else { return }
        changes += 1
        container.structureChanged()
        var works: [Rederivation] = []
        if votes != before.votes {
            container.screens?.ballotsChanged()
            let voted = votedSubjects
            for list in lists {
                works.append(
                    Rederivation(ids: list.derived.tallies.keys, subjects: voted) { [self] item in
                        list.setTally(tally(of: .item(item)), for: item)
                    })
            }
        }
        if comments != before.comments {
            let commented = commentedSubjects
            for list in lists {
                works.append(
                    Rederivation(ids: list.derived.commentCounts.keys, subjects: commented) {
                        [self] item in
                        list.setCommentCount(commentCount(of: .item(item)), for: item)
                    })
            }
        }
        rederive(works)
    }

    /// Replaces the derived values in the lists, one item at a time.
    private func rederive(_ works: [Rederivation]) {
        var works = works[...]
        domain.slices.run {
            guard let work = works.first else { return false }
            if !work.step() { works.removeFirst() }
            return true
        } then: { [self, container] in
            changes -= 1
            let callbacks = areShown ? waiting : []
            if areShown { waiting = [] }
            container.screens?.changed()
            for body in callbacks { body() }
        }
    }

    /// Calls back once the lists show the values of the present components.
    func whenShown(_ body: @escaping () -> Void) {
        if areShown { body() } else { waiting.append(body) }
    }

    private var votedSubjects: some Sequence<Subject> {
        (votes.flatMap { container.slot($0)?.own.votes?.tallies } ?? SplitDictionary()).keys
    }

    private var commentedSubjects: some Sequence<Subject> {
        (comments.flatMap { container.slot($0)?.own.comments?.counts } ?? SplitDictionary()).keys
    }

    /// The tally of a subject for the lists: the present one, and not that of when the slices began.
    private func tally(of subject: Subject) -> Tally {
        votes.flatMap { container.slot($0) }?.tally(of: subject) ?? Tally()
    }

    /// The present number of comments on a subject, for the lists.
    private func commentCount(of subject: Subject) -> Int {
        comments.flatMap { container.slot($0) }?.commentCount(of: subject) ?? 0
    }

    // MARK: Values

    /// Shows a tally that a component reports, for the delegate that passes it on.
    func set(_ tally: Tally, of subject: Subject, from slot: Slot) {
        slot.own.votes?.set(tally, of: subject)
        guard slot.name == votes, let item = subject.item else { return }
        for list in lists { list.setTally(tally, for: item) }
    }

    /// Shows a number of comments that a component reports, for the delegate that passes it on.
    func set(_ count: Int, of subject: Subject, from slot: Slot) {
        slot.own.comments?.set(count, of: subject)
        guard slot.name == comments, let item = subject.item else { return }
        for list in lists { list.setCommentCount(count, for: item) }
    }

    /// Whether a list has the present tally and comment count of an item.
    func agree(on item: String, in list: ContentIndex) -> Bool {
        guard areShown else { return true }
        return list.derived.tallies[item] ?? Tally() == tally(of: .item(item))
            && list.derived.commentCounts[item] ?? 0 == commentCount(of: .item(item))
    }

    /// Fills in the derived fields of a new list, in slices.
    ///
    /// They are kept up to date from now on, until the list is a component's or ``endFilling(_:)`` is called.
    func fill(
        _ list: ContentIndex, while isWanted: @escaping () -> Bool, then done: @escaping () -> Void
    ) {
        filling[ObjectIdentifier(list)] = list
        var voted = votedSubjects.makeIterator()
        var commented = commentedSubjects.makeIterator()
        domain.slices.run { [self] in
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
        } then: { [container] in
            // The container exists as long as the slices need it.
            withExtendedLifetime(container) { if isWanted() { done() } }
        }
    }

    /// Records that a list is a component's now, or was dropped.
    func endFilling(_ list: ContentIndex) { filling[ObjectIdentifier(list)] = nil }
}

/// Replaces the derived values of one list after they come from another component, one item at a time.
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
