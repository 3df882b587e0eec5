import AtriumKit
internal import DequeModule
import LogMessages
import Logging
import NIOCore
internal import PluginLoader
import Store
import Synchronization

/// The parts that all containers share: the event loop, the store, the bus, the actors and the order of all commits.
///
/// Use it on the event loop only. Whatever happens on another thread (a commit, a read) comes back to the loop before
/// anything here is changed.
final class Domain {
    let loop: any EventLoop
    let store: Store
    let bus: Bus
    /// The plugins that components are made of; a reload replaces one.
    var plugins: PluginLibrary
    var limits: HostLimits
    let logger: Logger
    let actors: ActorTable
    let metered = ContainerMeters.Room()
    /// The damage to the store itself that the last verification found.
    var verified = VerifiedDamage()
    /// The damage that reads of the past for subscribers found.
    private(set) var pastDamage = PastDamage()
    private(set) lazy var queries = LongQueries(self)
    let starts = StartTurns(atATime: 16)
    /// The checks of large batches.
    let threadWork: ThreadWork
    let changes: ChangeWatch
    /// Whether this process only checks definitions.
    let isCheck: Bool
    /// Records for diagnosis what the loop does in each turn.
    let turns: TurnNotes
    /// How many steps of work were done so far, for ``LoadProgress/steps``.
    var steps = 0
    let recordsRead = RecordCount()
    /// The bytes that components keep; nil when definitions are only checked.
    let kept: KeptFiles?
    /// The sequence of the last commit that everything on the loop reflects.
    ///
    /// Replies and reads contain this one, since the store itself may be ahead.
    private(set) var sequence: Int64
    /// Greater than each epoch that failed, so that a container's new lane is not mistaken for its old one.
    var epochFloor = 0
    private(set) var isStopping = false
    /// Whether calls no longer wait for components that are being started.
    var isWaitingOver = false
    /// Returns the files that the secret settings of all components refer to.
    var secretFiles: () -> [String] = { [] }
    /// The files that record what is being made in this process, and what the previous process was making when it ended.
    let notes: ProcessNotes
    /// The plugins whose components live in workers whatever definitions say.
    let isolated: IsolatedPlugins

    private let clock: @Sendable () -> Timestamp
    private let launchers: (daemon: any ComponentLauncher, process: any ComponentLauncher)
    private var writers: [UInt64: any EntryOwner] = [:]
    /// The callbacks of entries that belong to no container.
    private var ownEntries: [UInt64: Answer<Commit>] = [:]
    /// The outcomes that came from the store and have not been delivered yet, in order.
    private var arrivals: Deque<Arrival> = []
    /// The containers whose screens are to be updated after the present commits.
    private var unflushed: [any ChangeFollower] = []
    /// Whether arrivals are being passed on at this moment.
    private var isPassing = false
    /// The long work that is in progress, in the order of its turns.
    private var sliced: Deque<(step: () -> Bool, done: () -> Void)> = []
    private var isSlicing = false
    /// Whether slices wait until the loop has served its sockets.
    private var isResting = false
    /// Whether more than ``much`` operations ran in one turn since the loop last served its sockets.
    private(set) var isSpent = false
    private(set) var lastTicket: UInt64 = 0
    private var randomIDs = RandomIDs()

    init(
        loop: any EventLoop, store: Store, bus: Bus, actors: ActorTable, plugins: PluginLibrary,
        launchers: (daemon: any ComponentLauncher, process: any ComponentLauncher),
        notes: ProcessNotes, isolated: IsolatedPlugins, limits: HostLimits, logger: Logger,
        turns: TurnNotes,
        isCheck: Bool, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.loop = loop
        self.store = store
        self.bus = bus
        self.actors = actors
        self.plugins = plugins
        self.launchers = launchers
        self.notes = notes
        self.isolated = isolated
        self.limits = limits
        self.logger = logger
        self.turns = turns
        self.isCheck = isCheck
        self.clock = clock
        changes = ChangeWatch(loop: loop)
        threadWork = ThreadWork(loop: loop, turns: turns)
        kept = isCheck ? nil : KeptFiles(beside: store.file, on: loop, logger)
        sequence = store.lastSequence
    }

    func now() -> Timestamp { clock() }

    /// Returns a new number: an operation's id and its entry's ticket, or a request's, which orders requests.
    func nextTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    /// Returns an id that can't be guessed.
    func randomID() -> String { randomIDs.next() }

    /// Returns an id for what a command creates, which follows those of earlier times in the order of bytes.
    func freshID(at time: Timestamp) -> String { randomIDs.next(at: time) }

    /// Returns an actor's number; a new actor is known for this turn of the loop at least.
    func intern(_ name: String) -> ActorID {
        let wasEmpty = !actors.hasIdle
        let actor = actors.intern(name)
        if wasEmpty, actors.hasIdle { later { [actors] in actors.removeIdle() } }
        return actor
    }

    func launcher(for isolation: Isolation) -> any ComponentLauncher {
        isolation == .daemon ? launchers.daemon : launchers.process
    }

    /// Refuses new commands from now on.
    func stop() { isStopping = true }

    /// The error for commands while the daemon stops.
    var stopping: HostError {
        .storeUnavailable(reason: "The daemon is stopping.", retryAfter: 1)
    }

    /// Why a command is refused at present; nil when commands are accepted.
    var refusal: HostError? {
        if isStopping { return stopping }
        return store.unavailability.map {
            .storeUnavailable(
                reason: "The store can't be written: \($0).",
                retryAfter: store.isDamaged ? nil : 1)
        }
    }
}

// MARK: The store

extension Domain {
    /// Records damage that a read of the past found, and logs the first.
    func record(_ damage: PastDamage) {
        let isFirst = pastDamage.isEmpty
        pastDamage.add(damage)
        guard isFirst, let problem = pastDamage.problem else { return }
        logger.log(.pastDamaged, ["path": "\(store.file)", "reason": "The store \(problem)"])
    }

    /// The number of entries that the store has lost, once it has counted them after its start.
    var missingEntries: Int { store.keptPast?.missing ?? 0 }

    /// Appends an entry to the store; its outcome is passed to the owner.
    func append(_ entry: consuming Entry, ticket: UInt64, of owner: any EntryOwner) {
        writers[ticket] = owner
        store.append(entry, ticket: ticket)
    }

    /// Appends an entry that belongs to no container; no notification is posted.
    ///
    /// Each such entry has an epoch of its own, since none depends on another.
    func append(_ changes: [RecordChange], _ done: @escaping Answer<Commit>) {
        if let error = refusal { return done(.failure(error)) }
        let ticket = nextTicket()
        ownEntries[ticket] = done
        store.append(
            Entry(
                container: "", epoch: Int(clamping: ticket), time: now().milliseconds,
                changes: changes), ticket: ticket)
    }

    /// Passes outcomes to the owners of their entries, in order and in slices.
    func enqueue(_ outcomes: [Outcome]) {
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
        turns.work.insert(.outcomes)
        isPassing = true
        var end: NIODeadline?
        while let arrival = arrivals.popFirst() {
            deliver(arrival)
            guard hasArrivals, !isSpent else { break }
            // A single arrival needs no look at the clock.
            let now = NIODeadline.now()
            if now >= end ?? .distantFuture { break }
            end = end ?? now + Self.slice
        }
        steps += 1
        isPassing = false
        flushScreens()
        changes.schedule()
        if hasArrivals { afterPoll { self.deliverArrivals() } }
    }

    private func deliver(_ arrival: Arrival) {
        switch arrival {
        case .outcome(let outcome):
            if case .success(let commit) = outcome.result { sequence = commit.sequence }
            guard let owner = writers.removeValue(forKey: outcome.ticket) else {
                guard let done = ownEntries.removeValue(forKey: outcome.ticket) else { return }
                if case .success(let commit) = outcome.result { bus.advance(to: commit.sequence) }
                return done(outcome.result.mapError(HostError.init))
            }
            let others = owner.handle(outcome)
            if !others.isEmpty {
                arrivals.prepend(contentsOf: others.map { .step(owner, $0) })
            }
        case .step(let owner, let step): owner.perform(step)
        case .read(let body): body()
        }
    }

    /// Updates a container's screens soon: once for everything that happens until then.
    func flushLater(_ screens: any ChangeFollower) {
        unflushed.append(screens)
        changes.schedule()
        guard !isPassing, unflushed.count == 1 else { return }
        later { [self] in flushScreens() }
    }

    private func flushScreens() {
        let followers = unflushed
        unflushed.removeAll()
        for follower in followers { follower.flush() }
    }

    /// Reads the store on a thread once earlier entries are settled, and calls `then` on the loop.
    func read<T: Sendable>(
        _ work: @escaping @Sendable (Store) throws -> T,
        then: @escaping (Result<T, any Error>) -> Void
    ) {
        let then = NIOLoopBound(
            { [self] result in afterArrivals { then(result) } }, eventLoop: loop)
        let (loop, turns) = (loop, turns)
        store.enqueueRead { store in
            let result = Result { try work(store) }
            loop.execute {
                turns.work.insert(.read)
                then.value(result)
            }
        }
    }
}

extension Domain {
    /// As ``read(_:then:)``, in parts: each is passed to the loop while the thread reads the next.
    func read<T: Sendable>(
        _ work: @escaping @Sendable (Store, (T) -> Void) throws -> Void,
        each: @escaping (T) -> Void, then: @escaping (Result<Void, any Error>) -> Void
    ) {
        let (each, loop, turns) = (NIOLoopBound(each, eventLoop: loop), loop, turns)
        read { store in
            try work(store) { part in
                loop.execute {
                    turns.work.insert(.read)
                    each.value(part)
                }
            }
        } then: { result in
            then(result)
        }
    }
}

// MARK: Time

extension Domain {
    /// Calls `body` after a delay.
    func after(_ delay: TimeAmount, _ body: @escaping () -> Void) {
        let body = NIOLoopBound(body, eventLoop: loop)
        loop.scheduleTask(in: delay) { [turns] in
            turns.work.insert(.timer)
            body.value()
        }
    }

    /// Calls `body` once the loop has served its sockets.
    ///
    /// One timer does not ensure that: the loop runs a timer that becomes due during other work before it serves its
    /// sockets.
    func afterPoll(_ body: @escaping () -> Void) { afterPoll(in: Self.pause, body) }

    /// Waits again within the same turn, each time twice as long.
    ///
    /// With a constant delay the turn would never end on a machine so slow that a timer is due as soon as it is set.
    private func afterPoll(in delay: TimeAmount, _ body: @escaping () -> Void) {
        let turn = turns.count
        after(delay) { [self] in
            guard turn > 0, turns.count == turn else { return body() }
            afterPoll(in: delay * 2, body)
        }
    }

    /// Calls `body` once the present call stack has returned.
    func later(_ body: @escaping () -> Void) {
        let body = NIOLoopBound(body, eventLoop: loop)
        loop.execute { [turns] in
            turns.work.insert(.later)
            body.value()
        }
    }

    /// How long a slice of long work may take.
    static let slice = TimeAmount.milliseconds(4)
    /// The delay between two slices.
    ///
    /// They are scheduled, since the loop would run an executed task before it serves its sockets.
    private static let pause = TimeAmount.microseconds(100)

    /// Does long work in slices, so that the loop serves others in between.
    ///
    /// All such work takes turns, one slice at a time. After a slice of a millisecond or more, the next one waits
    /// until the loop has served its sockets.
    ///
    /// - Parameters:
    ///   - step: does a small part of the work; returns false when nothing is left.
    ///   - done: called after the last step, which may be during this call.
    func inSlices(_ step: @escaping () -> Bool, then done: @escaping () -> Void) {
        sliced.append((step, done))
        if !isSlicing, !isResting { nextSlice() }
    }

    /// Calls each of these in order, in slices.
    func inSlices(_ waiting: [() -> Void]) {
        var rest = waiting[...]
        inSlices {
            rest.popFirst()?()
            return !rest.isEmpty
        } then: {
        }
    }

    private func nextSlice() {
        turns.work.insert(.slice)
        let start = NIODeadline.now()
        var now = start
        isSlicing = true
        while now < start + Self.slice, !isResting, let work = sliced.popFirst() {
            var isLeft = true
            while isLeft, now < start + Self.slice, !isResting {
                isLeft = work.step()
                if isLeft { steps += 1 }
                now = .now()
            }
            if isLeft { sliced.append(work) } else { work.done() }
        }
        isSlicing = false
        if !sliced.isEmpty || now >= start + .milliseconds(1) { delaySlices() }
    }

    /// The number of small operations in one turn after which ``rest()`` is called.
    static let much = 64

    /// Makes slices and arrivals wait until the loop has served its sockets, after ``much`` operations in one turn.
    func rest() {
        isSpent = true
        delaySlices()
    }

    /// Makes slices wait until the loop has served its sockets.
    func delaySlices() {
        guard !isResting else { return }
        isResting = true
        afterPoll { [self] in
            (isResting, isSpent) = (false, false)
            if !sliced.isEmpty { nextSlice() }
        }
    }
}

/// Something that came from the store, in the order of the entries and reads there.
private enum Arrival {
    case outcome(Outcome)
    /// A further step that follows from an earlier outcome.
    case step(any EntryOwner, Lane<any EntryWaiter>.Step)
    /// The end of a read; entries that were appended before the read were settled before it.
    case read(() -> Void)
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
