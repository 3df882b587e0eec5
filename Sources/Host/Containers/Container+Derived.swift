import AtriumKit
import Index

// What votes and comments components tell of items, in the lists.
extension Container {
    var derivedLists: [ContentIndex] {
        let lists = slots.compactMap(\.list)
        return filling.isEmpty ? lists : lists + filling.values
    }

    /// Lets the lists follow the first votes and the first comments component.
    ///
    /// Called whenever the components or their order changed. What the lists have is replaced in slices:
    /// see ``whenRewired(_:)``.
    func rewire() {
        let now = Wiring(votes: first(.votes)?.name, comments: first(.comments)?.name)
        guard now != wired else { return }
        let before = wired
        wired = now
        structureChanged()
        var works: [Rederivation] = []
        if before.votes != now.votes {
            screens?.forgetBallots()
            let voted = votedSubjects
            for list in derivedLists {
                works.append(
                    Rederivation(ids: list.talliedItems, subjects: voted) { [self] item in
                        list.setTally(tally(of: .item(item)), for: item)
                    })
            }
        }
        if before.comments != now.comments {
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
        rewirings += 1
        domain.inSlices {
            guard let work = works.first else { return false }
            if !work.step() { works.removeFirst() }
            return true
        } then: { [self] in
            rewirings -= 1
            screens?.changed()
            guard rewirings == 0 else { return }
            let waiting = waitingForWiring
            waitingForWiring = []
            for body in waiting { body() }
        }
    }

    /// Goes on once the lists show what the components of now tell.
    func whenRewired(_ body: @escaping () -> Void) {
        guard rewirings > 0 else { return body() }
        waitingForWiring.append(body)
    }

    private var votedSubjects: [Subject] {
        wired.votes.flatMap { slot($0)?.own.votes }.map { Array($0.tallies.keys) } ?? []
    }

    private var commentedSubjects: [Subject] {
        wired.comments.flatMap { slot($0)?.own.comments }.map { Array($0.counts.keys) } ?? []
    }

    /// What the lists show of a subject's votes: as it is now, and not as it was when slices began.
    private func tally(of subject: Subject) -> Tally {
        wired.votes.flatMap { slot($0) }?.tally(of: subject) ?? Tally()
    }

    /// How many comments of a subject the lists show, now.
    private func commentCount(of subject: Subject) -> Int {
        wired.comments.flatMap { slot($0) }?.commentCount(of: subject) ?? 0
    }

    /// Whether a list has what the components tell of an item's votes and comments.
    func hasDerived(_ item: String, in list: ContentIndex) -> Bool {
        guard rewirings == 0 else { return true }
        return list.derived.tallies[item] ?? Tally() == tally(of: .item(item))
            && list.derived.commentCounts[item] ?? 0 == commentCount(of: .item(item))
    }

    /// Gives a new list the derived fields, in slices.
    ///
    /// It follows each change from now on, until it is a component's list or ``forget(_:)`` is called.
    func fillDerived(
        _ list: ContentIndex, while isWanted: @escaping () -> Bool, then done: @escaping () -> Void
    ) {
        filling[ObjectIdentifier(list)] = list
        let voted = votedSubjects
        let commented = commentedSubjects
        var next = 0
        domain.inSlices { [self] in
            guard isWanted(), next < voted.count + commented.count else { return false }
            let subject = next < voted.count ? voted[next] : commented[next - voted.count]
            defer { next += 1 }
            guard let item = subject.item else { return true }
            if next < voted.count {
                list.setTally(tally(of: subject), for: item)
            } else {
                list.setCommentCount(commentCount(of: subject), for: item)
            }
            return true
        } then: {
            if isWanted() { done() }
        }
    }

    /// Drops a list that was filled and not taken in.
    func forget(_ list: ContentIndex) { filling[ObjectIdentifier(list)] = nil }
}

/// What a list is given anew after the wiring changed, an item at a time.
private final class Rederivation {
    /// Items of which the list shows something.
    private let ids: [String]
    /// What the component that it follows now told something of.
    private let subjects: [Subject]
    private let set: (String) -> Void
    private var next = 0

    init(ids: [String], subjects: [Subject], set: @escaping (String) -> Void) {
        self.ids = ids
        self.subjects = subjects
        self.set = set
    }

    /// Does the next item; false: there is none.
    func step() -> Bool {
        guard next < ids.count + subjects.count else { return false }
        let item = next < ids.count ? ids[next] : subjects[next - ids.count].item
        if let item { set(item) }
        next += 1
        return true
    }
}
