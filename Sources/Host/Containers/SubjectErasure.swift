import AtriumKit
import DequeModule
import NIOCore

/// What was said about purged items on its way out of a component's own state.
///
/// The store does not show it, and tallies and counts are empty since the commit. The component's gate
/// is closed meanwhile, so that nothing reads it or is judged by it; the loop serves others between
/// slices. A component that is being started has nothing to forget, unless it has begun to read the
/// store before the commit: then it is started anew, so that nobody waits for it behind a closed gate.
final class SubjectErasure {
    /// How many records are looked up at a time.
    static let slice = 500
    /// How many are forgotten at a time.
    private static let part = 128

    /// The component's.
    let name: String
    private let kind: Kind?
    private let container: Container
    private let all: [[Subject]]
    private var batches: Deque<[Subject]> = []
    private var start: Int?
    /// Higher than the number of all that was begun before the commit.
    private var ticket: UInt64 = 0
    private var done: () -> Void = {}

    /// An erasure of what a component's records say about subjects.
    init(of subjects: [Subject], from slot: Slot, of container: Container) {
        name = slot.name
        kind = slot.kind
        self.container = container
        all = Self.batches(of: subjects, in: slot)
    }

    /// Subjects of which much was said alone, others together.
    static func batches(of subjects: [Subject], in slot: Slot) -> [[Subject]] {
        var batches: [[Subject]] = []
        var room = 0
        for subject in subjects {
            // One without any may have some that nobody sees.
            let known = slot.tally(of: subject)?.count ?? slot.commentCount(of: subject)
            let records = max(known ?? 0, 1)
            if records > room {
                batches.append([])
                room = slice
            }
            batches[batches.count - 1].append(subject)
            room -= records
        }
        return batches
    }

    /// Erases them.
    ///
    /// - Parameter done: called once the component holds none of them, or is not there any more.
    func run(_ done: @escaping () -> Void) {
        self.done = done
        ticket = container.domain.nextTicket()
        next()
    }

    /// Erases what was said about the next subjects, then about the others.
    private func next() {
        guard let slot = container.slot(name), slot.progress.hasRead(before: ticket) else {
            return done()
        }
        switch slot.state {
        case .attached: break
        case .failed, .closed: return done()
        case .starting, .prepared: return startAnew(slot)
        }
        if slot.start != start {
            start = slot.start
            batches = Deque(all)
        }
        guard let batch = batches.popFirst() else { return done() }
        if kind == .comments { return keys(about: batch, after: nil) }
        if batch.count == 1 { return page(batch[0], after: nil, []) }
        ask(.recordKeys(batch)) { answer in
            guard case .recordKeys(let keys) = answer else { return self.startAnew() }
            self.forget([keys])
        }
    }

    /// Looks up the keys of comments, page by page, and has each page forgotten before the next.
    private func keys(about subjects: [Subject], after key: String?) {
        ask(.recordKeyPage(subjects, after: key, limit: Self.slice)) { [self] answer in
            guard case .recordKeys(let keys) = answer else { return startAnew() }
            guard keys.count >= Self.slice, let last = keys.last else { return forget([keys]) }
            guard subjects.count == 1 else {
                // Which of the subjects the page ends with the keys don't tell.
                for subject in subjects.reversed() { batches.prepend([subject]) }
                return next()
            }
            forget([keys]) { self.keys(about: subjects, after: last) }
        }
    }

    /// Starts a component again that may have read some of the records from the store before the commit.
    private func startAnew(_ slot: Slot) {
        let attempt = slot.start
        container.domain.later { [self] in
            if container.slot(name) === slot, slot.start == attempt, !slot.isAttached {
                slot.lost(because: "It was reading records which were purged meanwhile.")
            }
            next()
        }
    }

    /// Asks the component; goes on with ``next()`` where it was lost meanwhile.
    private func ask(_ query: ComponentQuery, _ then: @escaping (ComponentAnswer) -> Void) {
        guard let slot else { return next() }
        slot.ask(query, passesGate: true) { result in
            guard self.slot != nil else { return self.next() }
            switch result {
            case .success(let answer): then(answer)
            case .failure(let error): self.startAnew(because: " It said: \(error.sentence)")
            }
        }
    }

    /// Starts the component again, which does not say what it has to forget: it then reads the store.
    private func startAnew(because problem: String = "") {
        // Not while it is handing over its answer.
        container.domain.later { [self] in
            slot?.lost(
                because: "It did not name the records about purged items, which it has to forget."
                    + problem)
            done()
        }
    }

    /// The component, as it was when the present subjects were begun.
    private var slot: Slot? {
        container.slot(name).flatMap { $0.isAttached && $0.start == start ? $0 : nil }
    }

    /// Looks up the keys of a subject's ballots, page by page, before the first is forgotten: a
    /// component may put them in order anew after each change.
    private func page(_ subject: Subject, after actor: ActorID?, _ found: [[String]]) {
        ask(.ballots(subject, after: actor, limit: Self.slice)) { answer in
            guard case .ballots(let ballots) = answer else { return self.startAnew() }
            let keys = ballots.map { Ballot.key(actor: $0.actor, subject: subject) }
            guard ballots.count == Self.slice, let last = ballots.last else {
                return self.forget(found + [keys])
            }
            self.container.domain.afterPoll {
                self.page(subject, after: last.actor, found + [keys])
            }
        }
    }

    /// Has the component forget records, after a pause: it took its time to say which they are.
    private func forget(_ pages: [[String]], then: (() -> Void)? = nil) {
        var pages = pages.filter { !$0.isEmpty }[...]
        var next = 0
        container.domain.afterPoll { [self] in
            container.domain.inSlices { [self] in
                guard let slot, let page = pages.first else { return false }
                let end = min(next + Self.part, page.count)
                slot.port?.undo(page[next..<end].map { .removed(key: $0) })
                next = end
                if next == page.count {
                    pages.removeFirst()
                    next = 0
                }
                return true
            } then: { [self] in
                container.domain.afterPoll { then.map { $0() } ?? self.next() }
            }
        }
    }
}
