public import AtriumKit
import Foundation
import Index
import JSONCodec
public import LogMessages
public import Logging
public import NIOCore
public import PluginLoader
public import Store

/// Finds containers by name, and begins, watches and ends all that they share.
///
/// It is called on its event loop: elsewhere each method traps, and ``plugins`` and ``identity`` alone may
/// be read. A ``Container`` that was found there must not leave it.
///
/// What it promises:
///
/// - **Every call answers.** Each method with a reply calls it exactly once, on the loop, during the
///   call or later. The reply may call the registry again, and must not touch a channel.
/// - **Acknowledged means on disk.** A command's reply with a sequence was made durable before.
/// - **Nobody reads the future.** Lists, tallies, counts, screens and notifications show what is
///   committed. What only a component can answer waits until its own state is the committed one; it
///   waits beside the commands, which go on.
/// - **Nobody reads the past.** Whoever was told a sequence never reads what is older.
/// - **A command that fails has not happened**, nor has any that was judged against its outcome.
/// - **Nothing blocks the loop.** The store writes and reads on threads of its own, and long work is
///   done in slices.
///
/// Unchecked: `shared` is reached through ``state`` alone, which checks the event loop.
public final class Registry: @unchecked Sendable {
    /// The plugins that components are made of, and what became of the others.
    public let plugins: PluginLibrary
    /// The store's identity: a cursor from a store of another one means nothing here.
    public let identity: String

    /// Where a handler of crashes finds what is being called.
    public let crashNote: CrashNote

    private let loop: any EventLoop
    private let shared: RegistryState

    /// Opens the store and makes a registry that is empty until ``load(_:)``.
    ///
    /// - Parameters:
    ///   - loop: where everything happens.
    ///   - plugins: what components are made of.
    ///   - workers: makes components with `isolation: process`.
    ///   - limits: how much is taken on.
    ///   - logger: told what an administrator should know.
    ///   - turns: where the loop's present turn is noted.
    ///   - isCheck: whether definitions are only looked over: where a credential that one refers to is not there,
    ///     it fails as ``HostError/isOfSecretNotRead`` once all else is right.
    ///   - clock: the time; by default the system's.
    ///   - openStore: opens the store with the given receiver of outcomes.
    /// - Throws: what `openStore` throws.
    public init(
        loop: any EventLoop, plugins: PluginLibrary, workers: sending any ComponentLauncher,
        limits: HostLimits = HostLimits(), logger: Logger, turns: TurnNotes = TurnNotes(),
        isCheck: Bool = false, clock: @escaping @Sendable () -> Timestamp = SystemClock.now,
        openStore: (_ outcomes: @escaping @Sendable ([Outcome]) -> Void) throws(StoreError)
            -> Store
    ) throws(StoreError) {
        let relay = OutcomeRelay()
        let store = try openStore { relay.pass($0) }
        let actors = ActorTable()
        let notes = ProcessNotes(
            making: InitNote(beside: store.file), crash: CrashNote(beside: store.file))
        let crashed = notes.crash.left
        let isolated = IsolatedPlugins(
            beside: store.file, crashed: crashed,
            path: { id in
                plugins.plugins.first { $0.id == id && $0.state == .loaded }?.path
            }, now: clock())
        notes.crash.forgetLeft()
        let bus = Bus(
            loop: loop, lastSequence: store.lastSequence, backlog: Backlog.reader(of: store),
            names: { actors.name(of: $0) })
        self.plugins = plugins
        identity = store.identity
        self.loop = loop
        let domain = Domain(
            loop: loop, store: store, bus: bus, actors: actors, plugins: plugins,
            launchers: (InProcessLauncher(loop: loop, turns: turns, notes: notes), workers),
            notes: notes, isolated: isolated, limits: limits, logger: logger, turns: turns,
            isCheck: isCheck, clock: clock)
        crashNote = notes.crash
        // What crashed while it was made is told of as what crashed.
        shared = RegistryState(domain, left: crashed == nil ? notes.making.left : nil, crashed)
        bus.foundDamage = { [weak domain] in domain?.note($0) }
        bus.isReadable = { [weak shared] comment, item in
            shared?.containers[comment.container]?.isReadable(comment, on: item) ?? false
        }
        relay.connect { [weak self] outcomes in
            guard let self else { return }
            loop.execute { self.domain.take(outcomes) }
        }
    }
}

extension Registry {
    /// What everything here works on, to be touched on the event loop alone.
    var state: RegistryState {
        loop.preconditionInEventLoop()
        return shared
    }

    /// What the containers share.
    var domain: Domain { state.domain }

    /// The containers by name.
    var containers: [String: Container] { state.containers }
}

/// The machine's clock.
public enum SystemClock {
    /// What it shows.
    @Sendable public static func now() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    }
}

// MARK: Start and end

extension Registry {
    /// Takes on so much from now on; what was taken on already stays.
    ///
    /// - Parameter limits: how much.
    public func limit(to limits: HostLimits) { domain.limits = limits }

    /// Reads actors and containers from the store and starts all components.
    ///
    /// - Parameters:
    ///   - reply: called once every component is attached, has failed or shows no progress with its
    ///     start, which its status tells; so this only fails with `storeUnavailable`.
    ///   - known: called before, once the containers are there, so that calls may come; those that
    ///     need components wait for them.
    public func load(_ reply: @escaping Reply<Void>, known: @escaping () -> Void = {}) {
        blame()
        announcePlugins()
        domain.read { store in
            var definitions: [DefinitionRecord] = []
            var unreadable: [String] = []
            let difference = try store.forEachRecord(container: "", component: "") {
                name, bytes, _ in
                let name = String(decoding: name, as: UTF8.self)
                let value = bytes.flatMap { try? Value(jsonBytes: Array($0)) }
                if let record = value.flatMap({ DefinitionRecord(name: name, value: $0) }) {
                    definitions.append(record)
                } else {
                    unreadable.append(name)
                }
            }
            var erasures: [Int64] = []
            try store.forEachRecord(container: "", component: PersonErasure.notes) { key, _, _ in
                if let number = Int64(String(decoding: key, as: UTF8.self)) {
                    erasures.append(number)
                }
            }
            return Stored(
                actors: try store.actors(), definitions: definitions, unreadable: unreadable,
                difference: difference, erasures: erasures)
        } then: { [self] result in
            loaded(result, known, reply)
        }
    }

    /// What the store holds of the registry.
    private struct Stored: Sendable {
        var actors: [Actor]
        var definitions: [DefinitionRecord]
        var unreadable: [String]
        /// How many definitions are gone; nil: none is.
        var difference: RecordDifference?
        /// The numbers of persons who are being erased.
        var erasures: [Int64]
    }

    private func loaded(
        _ result: Result<Stored, any Error>, _ known: () -> Void, _ reply: @escaping Reply<Void>
    ) {
        switch result {
        case .failure(let error):
            reply(.failure(.unreadable(error)))
        case .success(let stored):
            domain.actors.load(stored.actors)
            state.lostDefinitions = stored.difference?.sentence
            for name in stored.unreadable {
                domain.logger.tell(.definitionUnreadable, ["container": "\(name)"])
            }
            let loading = stored.definitions.map { Container($0, domain: domain) }
            for container in loading { state.add(container) }
            known()
            start(loading) { [self] in
                reply(.success(()))
                state.detached.run()
            }
            goOnErasing(stored.erasures)
        }
    }

    /// Starts the components of containers, and calls back once none is worth waiting for.
    private func start(_ loading: [Container], _ done: @escaping () -> Void) {
        var outstanding = loading.count
        guard outstanding > 0 else { return started(done) }
        for container in loading {
            container.whenLoaded { [self] in
                outstanding -= 1
                if outstanding == 0 { started(done) }
            }
        }
        var rest = loading[...]
        // A component in the daemon is made during the call.
        domain.inSlices { [domain] in
            guard !domain.isStopping, let container = rest.popFirst() else { return false }
            container.load()
            return true
        } then: {
        }
    }

    private func started(_ done: () -> Void) {
        domain.kept?.dropAll(but: Set(containers.values.flatMap(\.slots).map(\.keptName)))
        done()
    }

    /// Says whose fault it may be that the process before ended.
    private func blame() {
        if let crashed = state.crashed {
            let reason = domain.isolated.reason(of: crashed.plugin)
            domain.logger.tell(
                .componentBlamed,
                [
                    "container": "\(crashed.container)", "component": "\(crashed.component)",
                    "plugin": "\(crashed.plugin)",
                    "reason": "\(reason ?? "It crashed, and its plugin is not there any more.")",
                ])
        }
        guard let left = state.left else { return }
        domain.logger.tell(
            .componentBlamed,
            [
                "container": "\(left.container)", "component": "\(left.component)",
                "plugin": "\(left.plugin)", "reason": "\(left.problem)",
            ])
    }

    /// Definitions are about to be applied: calls that name a container which is not there wait
    /// until ``definitionsApplied()``.
    public func expectDefinitions() { state.expected.begin() }

    /// All definitions were applied, as far as they can be.
    public func definitionsApplied() { state.expected.end() }

    /// Lets no call wait any more for components that are being started: the daemon is to stop.
    ///
    /// Screens of another process that were not brought back yet stay as they were kept, and nothing
    /// is written that these would not know.
    public func endWaiting() {
        domain.isWaitingOver = true
        state.expected.end()
        for container in containers.values where container.isLoading {
            for slot in container.slots { slot.refuseToWait("The daemon is stopping.") }
            container.startsChanged()
        }
        for container in containers.values where container.awaitedScreens > 0 { container.pump() }
    }

    private func announcePlugins() {
        for plugin in plugins.plugins {
            let event: String
            switch plugin.state {
            case .loaded: event = "loaded"
            case .refused: event = "refused"
            case .failed: event = "failed"
            case .found, .superseded: continue
            }
            domain.bus.post(
                BusNotification(
                    time: domain.now(), topic: "daemon.plugins.\(event)",
                    payload: Payload.object {
                        $0.member("plugin", plugin.id)
                        $0.member("reason", plugin.reason)
                    }))
        }
    }

    /// Finishes what was accepted, detaches all components, and closes the store.
    ///
    /// Commands that come later are refused as `storeUnavailable`.
    ///
    /// - Parameter reply: called once the store is closed.
    public func stop(_ reply: @escaping Reply<Void>) {
        domain.stop()
        waitUntilQuiet(by: .now() + .seconds(10), nil) { [self] in close(reply) }
    }

    /// Refuses further commands, and waits until what was accepted is on disk and told.
    ///
    /// Readers of screens and subscribers are waited for while they read: what another process knows of a
    /// screen is what its reader was sent last, and transient notifications are kept nowhere.
    ///
    /// Reads, screens and subscriptions go on.
    ///
    /// - Parameters:
    ///   - limit: how long to wait at most.
    ///   - reply: called then.
    public func finishAccepted(within limit: TimeAmount, _ reply: @escaping Reply<Void>) {
        domain.stop()
        let now = NIODeadline.now()
        waitUntilQuiet(by: now + limit, Readers(screens: now + Self.reading)) {
            reply(.success(()))
        }
    }

    /// How long readers of screens may take to pull what there is, and subscribers to pull a part of it;
    /// who does not read is not waited for any longer.
    private static let reading = TimeAmount.milliseconds(500)

    /// Until when readers are waited for.
    private struct Readers {
        let screens: NIODeadline
        var subscribers: NIODeadline
        var untold: Bus.Untold?

        init(screens: NIODeadline) {
            self.screens = screens
            subscribers = screens
        }

        /// While subscribers get on they are waited for: the machine may be slow.
        mutating func note(_ now: Bus.Untold, until deadline: NIODeadline) {
            if let untold, untold != now { subscribers = deadline }
            untold = now
        }
    }

    /// Goes on once all that was accepted is committed and, unless `readers` is nil, read.
    private func waitUntilQuiet(
        by deadline: NIODeadline, _ readers: Readers?, _ done: @escaping () -> Void
    ) {
        let now = NIODeadline.now()
        var readers = readers
        readers?.note(bus.untold, until: now + Self.reading)
        let isQuiet =
            state.structure.isIdle && !domain.hasArrivals
            && containers.values.allSatisfy(\.isQuiet)
            && (readers.map { isRead(by: $0, now) } ?? true)
        if isQuiet || now > deadline { return done() }
        domain.after(.milliseconds(5)) { [self, readers] in
            waitUntilQuiet(by: deadline, readers, done)
        }
    }

    private func isRead(by readers: Readers, _ now: NIODeadline) -> Bool {
        (now >= readers.subscribers || readers.untold?.subscribers == 0)
            && (now >= readers.screens
                || !state.screens.screens.values.contains(where: \.isBehind))
    }

    private func close(_ reply: @escaping Reply<Void>) {
        endWaiting()
        var screens = Array(state.screens.screens.values)
        var slots = containers.values.flatMap(\.slots)[...]
        domain.inSlices { [domain] in
            if let screen = screens.popLast() {
                screen.home?.end(screen)
            } else if let slot = slots.popFirst() {
                slot.leave()
                slot.refuseWaiting(domain.stopping)
            } else {
                return false
            }
            return true
        } then: { [self] in
            closeStore(reply)
        }
    }

    private func closeStore(_ reply: @escaping Reply<Void>) {
        domain.changes.end()
        state.screens.removeAll()
        state.exports.removeAll()
        state.backups.removeAll()
        domain.bus.close()
        for name in containers.keys { state.remove(name) }
        let (store, loop) = (domain.store, domain.loop)
        let closed = NIOLoopBound(
            { [domain] in domain.afterArrivals { reply(.success(())) } }, eventLoop: loop)
        // Closing waits for the disk.
        let kept = domain.kept?.end()
        let thread = Thread {
            kept?()
            store.close()
            loop.execute { closed.value() }
        }
        thread.start()
    }
}
