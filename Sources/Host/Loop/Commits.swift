import DequeModule
import LogMessages
import NIOCore
import Store
import Synchronization

/// The entries on their way to the store, and what comes back from it, in the order of all commits.
///
/// Outcomes and reads are passed on in the order of the store, in slices. Screens are updated after them. Use it on the
/// loop only.
final class Commits {
    private let store: Store
    private let timers: Timers
    private let slices: Slices
    private let changes: ChangeWatch
    /// The sequence of the last commit that everything on the loop reflects.
    ///
    /// Replies and reads contain this one, since the store itself may be ahead.
    private(set) var sequence: Int64
    /// The owners of the entries that were appended, by ticket.
    private var owners: [UInt64: any EntryOwner] = [:]
    /// What came from the store and has not been passed on yet, in order.
    private var arrivals: Deque<Arrival> = []
    /// Whether arrivals are being passed on at this moment.
    private var isPassing = false
    /// The containers whose screens are to be updated after the present commits.
    private var unflushed: [any ChangeFollower] = []

    /// Something that came from the store, in the order of the entries and reads there.
    private enum Arrival {
        case outcome(Outcome)
        /// Further steps that follow from an earlier outcome, one at a time.
        case steps(of: any EntryOwner)
        /// The end of a read; entries that were appended before the read were settled before it.
        case read(() -> Void)
    }

    init(in store: Store, _ slices: Slices, _ timers: Timers, _ changes: ChangeWatch) {
        self.store = store
        self.slices = slices
        self.timers = timers
        self.changes = changes
        sequence = store.lastSequence
    }

    /// Appends an entry to the store; its outcome is passed to the owner.
    func append(_ entry: consuming Entry, ticket: UInt64, of owner: any EntryOwner) {
        owners[ticket] = owner
        store.append(entry, ticket: ticket)
    }

    /// Passes outcomes to the owners of their entries, in order and in slices.
    func deliver(_ outcomes: [Outcome]) {
        let isFirst = arrivals.isEmpty
        arrivals.append(contentsOf: outcomes.lazy.map(Arrival.outcome))
        if isFirst { deliverArrivals() }
    }

    /// Whether anything from the store has not been passed on yet.
    var hasArrivals: Bool { !arrivals.isEmpty }

    /// Calls `body` once everything that came from the store before was passed on.
    func afterArrivals(_ body: @escaping () -> Void) {
        guard hasArrivals else { return body() }
        arrivals.append(.read(body))
    }

    private func deliverArrivals() {
        timers.turns.work.insert(.outcomes)
        isPassing = true
        var end: NIODeadline?
        while let arrival = arrivals.popFirst() {
            deliver(arrival)
            guard hasArrivals, !slices.isSpent else { break }
            // A single arrival needs no look at the clock.
            let now = NIODeadline.now()
            if now >= end ?? .distantFuture { break }
            end = end ?? now + Slices.length
        }
        slices.countStep()
        isPassing = false
        flushScreens()
        changes.schedule()
        if hasArrivals { timers.afterPoll { self.deliverArrivals() } }
    }

    private func deliver(_ arrival: Arrival) {
        switch arrival {
        case .outcome(let outcome):
            if case .success(let commit) = outcome.result { sequence = commit.sequence }
            guard let owner = owners.removeValue(forKey: outcome.ticket) else { return }
            if owner.handle(outcome) { arrivals.prepend(.steps(of: owner)) }
        case .steps(let owner):
            if owner.performNext() { arrivals.prepend(.steps(of: owner)) }
        case .read(let body): body()
        }
    }

    /// Updates a container's screens soon: once for everything that happens until then.
    func flushLater(_ screens: any ChangeFollower) {
        unflushed.append(screens)
        changes.schedule()
        guard !isPassing, unflushed.count == 1 else { return }
        timers.later { [self] in flushScreens() }
    }

    private func flushScreens() {
        let followers = unflushed
        unflushed.removeAll()
        for follower in followers { follower.flush() }
    }
}

/// The owner of an entry that belongs to no container: its outcome is the callback's.
final class LooseEntry: EntryOwner {
    private let bus: Bus
    private let done: Answer<Commit>

    init(_ bus: Bus, _ done: @escaping Answer<Commit>) {
        self.bus = bus
        self.done = done
    }

    func handle(_ outcome: Outcome) -> Bool {
        // No notification of it is posted, and subscribers go on behind it.
        if case .success(let commit) = outcome.result { bus.advance(to: commit.sequence) }
        done(outcome.result.mapError(HostError.init))
        return false
    }

    /// Never called: no operation depends on the entry.
    func performNext() -> Bool { false }
}

/// Passes outcomes from the store's thread to the registry, which is made after the store.
final class OutcomeRelay: Sendable {
    private let target = Mutex<(@Sendable ([Outcome]) -> Void)?>(nil)

    /// Sets where outcomes go; call it before anything is appended.
    func connect(_ target: @escaping @Sendable ([Outcome]) -> Void) {
        self.target.withLock { $0 = target }
    }

    /// Passes outcomes on; called on the store's thread.
    func relay(_ outcomes: [Outcome]) { target.withLock(\.self)?(outcomes) }
}
