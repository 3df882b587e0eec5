import AtriumKit
internal import DequeModule
import LogMessages
import Logging
import NIOCore
internal import PluginLoader
import Store

/// What all containers share on the one serial domain: the loop, the store, the bus, the actors and
/// the place in the order of all commits.
///
/// Used on the event loop alone. Whatever happens elsewhere (a commit, a read, a timer) comes back
/// here before anything is touched.
final class Domain {
    let loop: any EventLoop
    let store: Store
    let bus: Bus
    let plugins: PluginLibrary
    var limits: HostLimits
    let logger: Logger
    let actors: ActorTable
    let metered = ContainerMeters.Room()
    /// What the last verification found wrong with the store itself.
    var verified = VerifiedDamage()
    /// The damage that subscribers' reads of the past have met.
    private(set) var pastDamage = PastDamage()
    private(set) lazy var queries = LongQueries(self)
    let starts = StartTurns(atATime: 16)
    let changes: ChangeWatch
    /// Whether definitions are only looked over.
    let isCheck: Bool
    /// Where it is noted what the loop does.
    let turns: TurnNotes
    /// What was done so far, of which a start tells.
    var steps = 0
    let recordsRead = RecordCount()
    /// What components have kept; nil: definitions are only looked over.
    let kept: KeptFiles?
    /// The last commit that everything on the domain reflects.
    ///
    /// Replies and reads name this one: the store itself may be ahead.
    private(set) var sequence: Int64
    /// Above every epoch that failed, so that a container's new lane is not taken for its old one.
    var epochFloor = 0
    private(set) var isStopping = false
    /// Nobody is to wait for components that are being started.
    var isWaitingOver = false
    /// The files that secret settings of all components refer to.
    var secretFiles: () -> [String] = { [] }
    /// What is being made in this process, and what the one before was making when it ended.
    let notes: ProcessNotes
    /// The plugins that live in workers whatever definitions say.
    let isolated: IsolatedPlugins

    private let clock: @Sendable () -> Timestamp
    private let launchers: (daemon: any ComponentLauncher, process: any ComponentLauncher)
    private var writers: [UInt64: any EntryOwner] = [:]
    /// Who waits for entries that are no container's.
    private var ownEntries: [UInt64: Answer<Commit>] = [:]
    /// What came from the store and is to be passed on, in its order.
    private var arrivals: Deque<Arrival> = []
    /// Containers whose screens follow once the present commits are through.
    private var unflushed: [any ChangeFollower] = []
    /// Whether arrivals are being passed on at this moment.
    private var isPassing = false
    /// Work that is done in slices, whose turn comes in this order.
    private var sliced: Deque<(step: () -> Bool, done: () -> Void)> = []
    private var isSlicing = false
    /// Whether the loop is to serve others before the next slice.
    private var isResting = false
    /// Whether much was done in one piece since the loop has looked at its sockets.
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
        kept = isCheck ? nil : KeptFiles(beside: store.file, on: loop, logger)
        sequence = store.lastSequence
    }

    func now() -> Timestamp { clock() }

    /// A number that was never given before: an operation's name and its entry's ticket; or a
    /// request's, by which one is seen to have come before another.
    func nextTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    /// An id for what a command creates: 128 random bits, in 26 lowercase letters and digits.
    func freshID() -> String { randomIDs.next() }

    /// The number of a person who may have a part in something, known for this turn of the loop at least.
    func meet(_ name: String) -> ActorID {
        let wasEmpty = !actors.hasIdle
        let actor = actors.meet(name)
        if wasEmpty, actors.hasIdle { later { [actors] in actors.forgetIdle() } }
        return actor
    }

    func launcher(for isolation: Isolation) -> any ComponentLauncher {
        isolation == .daemon ? launchers.daemon : launchers.process
    }

    /// No command begins any more.
    func stop() { isStopping = true }

    /// Why nothing is written by a daemon that stops.
    var stopping: HostError {
        .storeUnavailable(reason: "The daemon is stopping.", retryAfter: 1)
    }

    /// Why no command may begin at present; nil when they may.
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
    /// Notes damage that a read of the past has met, and logs the first.
    func note(_ damage: PastDamage) {
        let isFirst = pastDamage.isEmpty
        pastDamage.add(damage)
        guard isFirst, let problem = pastDamage.problem else { return }
        logger.tell(.pastDamaged, ["path": "\(store.file)", "reason": "The store \(problem)"])
    }

    /// Hands an entry to the store; its outcome is passed to the owner.
    func append(_ entry: Entry, ticket: UInt64, of owner: any EntryOwner) {
        writers[ticket] = owner
        store.append(entry, ticket: ticket)
    }

    /// Writes what is no container's to decide; nobody is told of it.
    ///
    /// Each entry is in an epoch of its own: none rests on another.
    func append(_ changes: [RecordChange], _ done: @escaping Answer<Commit>) {
        if let error = refusal { return done(.failure(error)) }
        let ticket = nextTicket()
        ownEntries[ticket] = done
        store.append(
            Entry(
                container: "", epoch: Int(clamping: ticket), time: now().milliseconds,
                changes: changes), ticket: ticket)
    }

    /// Passes outcomes on to the containers that wait for them, in their order and in slices.
    func take(_ outcomes: [Outcome]) {
        let isFirst = arrivals.isEmpty
        arrivals.append(contentsOf: outcomes.lazy.map(Arrival.outcome))
        if isFirst { passArrivals() }
    }

    /// Whether more is to be passed on after what is passed on now.
    var hasArrivals: Bool { !arrivals.isEmpty }

    /// Does something once all has been passed on that came from the store before.
    func afterArrivals(_ body: @escaping () -> Void) {
        guard hasArrivals else { return body() }
        arrivals.append(.read(body))
    }

    private func passArrivals() {
        turns.work.insert(.outcomes)
        isPassing = true
        var end: NIODeadline?
        while let arrival = arrivals.popFirst() {
            pass(arrival)
            guard hasArrivals, !isSpent else { break }
            // The clock is not read for a single one.
            let now = NIODeadline.now()
            if now >= end ?? .distantFuture { break }
            end = end ?? now + Self.slice
        }
        steps += 1
        isPassing = false
        flushScreens()
        changes.note()
        if hasArrivals { afterPoll { self.passArrivals() } }
    }

    private func pass(_ arrival: Arrival) {
        switch arrival {
        case .outcome(let outcome):
            if case .success(let commit) = outcome.result { sequence = commit.sequence }
            guard let owner = writers.removeValue(forKey: outcome.ticket) else {
                guard let done = ownEntries.removeValue(forKey: outcome.ticket) else { return }
                if case .success(let commit) = outcome.result { bus.advance(to: commit.sequence) }
                return done(outcome.result.mapError(HostError.init))
            }
            let others = owner.take(outcome)
            if !others.isEmpty {
                arrivals.prepend(contentsOf: others.map { .step(owner, $0) })
            }
        case .step(let owner, let step): owner.perform(step)
        case .read(let body): body()
        }
    }

    /// Lets a container's screens follow soon: once for all that happens meanwhile.
    func flushLater(_ screens: any ChangeFollower) {
        unflushed.append(screens)
        changes.note()
        guard !isPassing, unflushed.count == 1 else { return }
        later { [self] in flushScreens() }
    }

    private func flushScreens() {
        let followers = unflushed
        unflushed.removeAll()
        for follower in followers { follower.flush() }
    }

    /// Reads the store on a thread, after all that was appended so far has settled, and comes back.
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
    /// As ``read(_:then:)``, in parts: each comes over while the thread reads on.
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
    /// Comes back after a while.
    func after(_ delay: TimeAmount, _ body: @escaping () -> Void) {
        let body = NIOLoopBound(body, eventLoop: loop)
        loop.scheduleTask(in: delay) { [turns] in
            turns.work.insert(.timer)
            body.value()
        }
    }

    /// Comes back once the loop has looked at its sockets.
    ///
    /// A timer alone does not tell: what becomes due while other work goes on is run before the loop looks.
    func afterPoll(_ body: @escaping () -> Void) { afterPoll(in: Self.pause, body) }

    /// Each wait within a turn is twice as long as the one before: on a machine so slow that a timer is due
    /// as soon as it is set, the turn would never end.
    private func afterPoll(in delay: TimeAmount, _ body: @escaping () -> Void) {
        let turn = turns.count
        after(delay) { [self] in
            guard turn > 0, turns.count == turn else { return body() }
            afterPoll(in: delay * 2, body)
        }
    }

    /// Comes back once what is going on now has returned.
    func later(_ body: @escaping () -> Void) {
        let body = NIOLoopBound(body, eventLoop: loop)
        loop.execute { [turns] in
            turns.work.insert(.later)
            body.value()
        }
    }

    /// A slice of long work ends once it has taken this long.
    static let slice = TimeAmount.milliseconds(4)
    /// What lies between two slices: the next one is scheduled and not executed at once, for the loop
    /// would run it before it looks at its sockets again.
    private static let pause = TimeAmount.microseconds(100)

    /// Does long work in slices, so that the loop serves others in between.
    ///
    /// Of all such work one slice is done at a time, in turn, and after one of a millisecond or more
    /// what comes next waits, too.
    ///
    /// - Parameters:
    ///   - step: does a little; false: nothing is left.
    ///   - done: called after the last step, perhaps during this call.
    func inSlices(_ step: @escaping () -> Bool, then done: @escaping () -> Void) {
        sliced.append((step, done))
        if !isSlicing, !isResting { nextSlice() }
    }

    /// Calls what waited for the same in slices, in order.
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
        if !sliced.isEmpty || now >= start + .milliseconds(1) { putOffSlices() }
    }

    /// So many small things of a kind, done in one piece, leave little of a turn for others.
    static let much = 64

    /// Much was done in one piece: slices, and what else came from the store, go on once the loop has looked at its
    /// sockets.
    func rest() {
        isSpent = true
        putOffSlices()
    }

    /// Slices go on once the loop has looked at its sockets.
    func putOffSlices() {
        guard !isResting else { return }
        isResting = true
        afterPoll { [self] in
            (isResting, isSpent) = (false, false)
            if !sliced.isEmpty { nextSlice() }
        }
    }
}

/// Something that came from the store.
private enum Arrival {
    case outcome(Outcome)
    /// What else follows from an outcome before.
    case step(any EntryOwner, Lane<any EntryWaiter>.Step)
    /// The end of a read, to which everything that was appended before it has settled.
    case read(() -> Void)
}
