import AtriumKit
import LogMessages
import Logging
import NIOCore
internal import PluginLoader
import Store

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
    let timers: Timers
    let slices: Slices
    let commits: Commits
    let recordsRead = RecordCount()
    /// The bytes that components keep; nil when definitions are only checked.
    let kept: KeptFiles?
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
        timers = Timers(loop: loop, turns: turns)
        slices = Slices(timers)
        changes = ChangeWatch(loop: loop)
        commits = Commits(in: store, slices, timers, changes)
        threadWork = ThreadWork(loop: loop, turns: turns)
        kept = isCheck ? nil : KeptFiles(beside: store.file, on: loop, logger)
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
        if wasEmpty, actors.hasIdle { timers.later { [actors] in actors.removeIdle() } }
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

    /// Appends an entry that belongs to no container; no notification is posted.
    ///
    /// Each such entry has an epoch of its own, since none depends on another.
    func append(_ changes: [RecordChange], _ done: @escaping Answer<Commit>) {
        if let error = refusal { return done(.failure(error)) }
        let ticket = nextTicket()
        commits.append(
            Entry(
                container: "", epoch: Int(clamping: ticket), time: now().milliseconds,
                changes: changes), ticket: ticket, of: LooseEntry(bus, done))
    }

    /// Reads the store on a thread once earlier entries are settled, and calls `then` on the loop.
    func read<T: Sendable>(
        _ work: @escaping @Sendable (Store) throws -> T,
        then: @escaping (Result<T, any Error>) -> Void
    ) {
        let then = NIOLoopBound(
            { [self] result in commits.afterArrivals { then(result) } }, eventLoop: loop)
        let (loop, turns) = (loop, turns)
        store.enqueueRead { store in
            let result = Result { try work(store) }
            loop.execute {
                turns.work.insert(.read)
                then.value(result)
            }
        }
    }

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
