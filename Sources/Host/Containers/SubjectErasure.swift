import AtriumKit
import DequeModule

/// Removes what a component's own state holds about purged items.
///
/// Since the commit the store has no such records, and tallies and counts are empty. Meanwhile the component's gate
/// is closed, so that nothing reads or depends on the old state, and the loop serves others between slices. A
/// component that is being started has nothing to forget, unless it has read the store before the commit. It is then
/// started anew, so that nobody waits for it behind a closed gate.
final class SubjectErasure {
    /// The number of records that are looked up at a time.
    static let slice = 500
    /// The number of records that are forgotten at a time.
    private static let part = 128

    /// The component's name.
    let name: String
    private let kind: Kind?
    private let container: Container
    private let all: [[Subject]]
    private var batches: Deque<[Subject]> = []
    private var start: Int?
    /// Higher than the number of everything that was begun before the commit.
    private var ticket: UInt64 = 0
    private var done: () -> Void = {}

    init(of subjects: [Subject], from slot: Slot, of container: Container) {
        name = slot.name
        kind = slot.kind
        self.container = container
        all = Self.batches(of: subjects, in: slot)
    }

    /// The subjects in batches: those with many records alone, others together.
    static func batches(of subjects: [Subject], in slot: Slot) -> [[Subject]] {
        var batches: [[Subject]] = []
        var room = 0
        for subject in subjects {
            // A subject without known records may have some that are not counted.
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

    /// Erases the records; `done` is called once the component holds none of them, or is gone.
    func run(_ done: @escaping () -> Void) {
        self.done = done
        ticket = container.domain.nextTicket()
        next()
    }

    /// Erases the records about the next subjects, then about the remaining ones.
    private func next() {
        guard let slot = container.slot(name), slot.start.hasRead(before: ticket) else {
            return done()
        }
        switch slot.state {
        case .attached: break
        case .failed, .closed: return done()
        case .starting, .prepared: return startAnew(slot)
        }
        if slot.start.attempt != start {
            start = slot.start.attempt
            batches = Deque(all)
        }
        guard let batch = batches.popFirst() else { return done() }
        if kind == .comments { return keys(about: batch, after: nil) }
        if batch.count == 1 { return page(batch[0], after: nil, []) }
        ask(.recordKeys(batch)) { answer in
            guard case .recordKeys(let keys) = answer else { return self.startAnew() }
            self.removeRecords([keys])
        }
    }

    /// Looks up the keys of comments page by page; each page is forgotten before the next.
    private func keys(about subjects: [Subject], after key: String?) {
        ask(.recordKeyPage(subjects, after: key, limit: Self.slice)) { [self] answer in
            guard case .recordKeys(let keys) = answer else { return startAnew() }
            guard keys.count >= Self.slice, let last = keys.last else {
                return removeRecords([keys])
            }
            guard subjects.count == 1 else {
                // The keys don't show at which subject the page ends.
                for subject in subjects.reversed() { batches.prepend([subject]) }
                return next()
            }
            removeRecords([keys]) { self.keys(about: subjects, after: last) }
        }
    }

    /// Restarts a component that may have read some of the records before the commit.
    private func startAnew(_ slot: Slot) {
        let attempt = slot.start.attempt
        container.domain.timers.later { [self] in
            if container.slot(name) === slot, slot.start.attempt == attempt, !slot.isAttached {
                slot.restart(because: "It was reading records which were purged meanwhile.")
            }
            next()
        }
    }

    /// Asks the component; continues with ``next()`` if it was lost meanwhile.
    private func ask(_ query: ComponentQuery, _ then: @escaping (ComponentAnswer) -> Void) {
        guard let slot else { return next() }
        slot.requests.ask(query, for: slot, passesGate: true) { result in
            guard self.slot != nil else { return self.next() }
            switch result {
            case .success(let answer): then(answer)
            case .failure(let error): self.startAnew(because: " It said: \(error.sentence)")
            }
        }
    }

    /// Restarts a component that does not name the records, so that it reads the store again.
    private func startAnew(because problem: String = "") {
        // Not within the call with its answer.
        container.domain.timers.later { [self] in
            slot?.restart(
                because: "It did not name the records about purged items, which it has to forget."
                    + problem)
            done()
        }
    }

    /// The slot, if the component is still the one that was asked about the present subjects.
    private var slot: Slot? {
        container.slot(name).flatMap { $0.isAttached && $0.start.attempt == start ? $0 : nil }
    }

    /// Looks up the keys of a subject's ballots page by page, before any is forgotten.
    ///
    /// A component may change their order after each change.
    private func page(_ subject: Subject, after actor: ActorID?, _ found: [[String]]) {
        ask(.ballots(subject, after: actor, limit: Self.slice)) { answer in
            guard case .ballots(let ballots) = answer else { return self.startAnew() }
            let keys = ballots.map { Ballot.key(actor: $0.actor, subject: subject) }
            guard ballots.count == Self.slice, let last = ballots.last else {
                return self.removeRecords(found + [keys])
            }
            self.container.domain.timers.afterPoll {
                self.page(subject, after: last.actor, found + [keys])
            }
        }
    }

    /// Makes the component forget records; after a pause, because naming them took time.
    private func removeRecords(_ pages: [[String]], then: (() -> Void)? = nil) {
        var pages = pages.filter { !$0.isEmpty }[...]
        var next = 0
        container.domain.timers.afterPoll { [self] in
            container.domain.slices.run { [self] in
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
                container.domain.timers.afterPoll { then.map { $0() } ?? self.next() }
            }
        }
    }
}
