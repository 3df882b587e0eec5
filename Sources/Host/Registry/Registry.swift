public import AtriumKit
import Foundation
import Index
import JSONCodec
public import LogMessages
public import Logging
public import NIOCore
public import PluginLoader
public import Store

/// Finds containers by name, and starts and stops what they share.
///
/// Every method must be called on the event loop, and traps elsewhere; only ``identity`` may be read on other threads. A ``Container`` that a method returns must not leave the event loop either.
///
/// It guarantees:
///
/// - **Every call is answered.** A method with a reply calls it exactly once, on the loop, during the call or later.
///   The reply may call the registry again, and must not touch a channel.
/// - **Acknowledged means on disk.** When a command's reply has a sequence, its entry is on disk.
/// - **No uncommitted state is visible.** Lists, tallies, counts, screens and notifications show what is committed. A
///   question that only a component can answer waits until the component's state is the committed one; commands don't
///   wait for it.
/// - **No stale reads.** Whoever got a sequence never reads state that is older than it.
/// - **A failed command has no effect**, and commands that were decided on top of it fail too.
/// - **Nothing blocks the loop.** The store reads and writes on threads of its own, and long work is done in slices.
///
/// Unchecked: `shared` is accessed only through ``state``, which checks the event loop.
public final class Registry: @unchecked Sendable {
    /// The store's identity: a cursor is valid only for the store with the same identity.
    public let identity: String

    /// Notes in memory which component or delegate is being called, for a crash handler to write down.
    public let crashNote: CrashNote

    private let loop: any EventLoop
    private let changes: StructureChanges
    private let shared: RegistryState

    /// Opens the store and makes a registry, which is empty until ``load(_:known:)``.
    ///
    /// - Parameters:
    ///   - loop: the event loop that everything runs on.
    ///   - plugins: the plugins that components can be made of.
    ///   - workers: launches components with `isolation: process`.
    ///   - limits: the limits on calls and state.
    ///   - logger: logs what an administrator should know.
    ///   - turns: records what the loop is busy with.
    ///   - isCheck: whether definitions are only checked. A credential that is missing then fails as
    ///     ``HostError/isOfSecretNotRead``, and only after everything else was found valid.
    ///   - clock: returns the time; by default the system's.
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
        identity = store.identity
        self.loop = loop
        let domain = Domain(
            loop: loop, store: store, bus: bus, actors: actors, plugins: plugins,
            launchers: (InProcessLauncher(loop: loop, turns: turns, notes: notes), workers),
            notes: notes, isolated: isolated, limits: limits, logger: logger, turns: turns,
            isCheck: isCheck, clock: clock)
        crashNote = notes.crash
        // A component that crashed while it was made is reported once, as the one that crashed.
        shared = RegistryState(domain, left: crashed == nil ? notes.making.left : nil, crashed)
        changes = StructureChanges(in: shared)
        bus.foundDamage = { [weak domain] in domain?.note($0) }
        bus.isReadable = { [weak shared] comment, item in
            shared?.containers[comment.container]?.comments.isReadable(comment, on: item) ?? false
        }
        relay.connect { [weak self] outcomes in
            guard let self else { return }
            loop.execute { self.domain.take(outcomes) }
        }
    }
}

extension Registry {
    /// The registry's mutable state; traps off the event loop.
    var state: RegistryState {
        loop.preconditionInEventLoop()
        return shared
    }

    /// The state that containers share.
    var domain: Domain { state.domain }

    /// The containers by name.
    var containers: [String: Container] { state.containers }

    /// The plugins that components can be made of, and those that were found but are not in use.
    public var plugins: PluginLibrary { domain.plugins }

    /// Changes which containers there are, and of what components they consist.
    public var structure: StructureChanges {
        loop.preconditionInEventLoop()
        return changes
    }

    /// Calls that wait while definitions are being applied.
    public var expected: ExpectedContainers { state.expected }

    /// All screens.
    public var screens: ScreenTable { state.screens }

    /// Screens that are kept over a restart.
    public var keptScreens: KeptScreens { state.keptScreens }

    /// Exports of containers' records.
    public var exports: Exports { state.exports }

    /// Backups of the store.
    public var backups: Backups { state.backups }
}

/// The system's clock.
public enum SystemClock {
    /// The present time.
    @Sendable public static func now() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    }
}

// MARK: Start and end

extension Registry {
    /// Sets the limits for what comes from now on; what was accepted before stays.
    ///
    /// - Parameter limits: the limits.
    public func limit(to limits: HostLimits) { domain.limits = limits }

    /// Reads actors and containers from the store and starts all components.
    ///
    /// - Parameters:
    ///   - reply: called once each component is attached, has failed, or makes no progress with its start; the status
    ///     says which. Fails only with `storeUnavailable`.
    ///   - known: called earlier, once the containers are known and calls can be accepted; calls that need components
    ///     wait for them.
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

    /// What the store holds for the registry.
    private struct Stored: Sendable {
        var actors: [Actor]
        var definitions: [DefinitionRecord]
        var unreadable: [String]
        /// How many definitions are missing; nil if none is.
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
                domain.logger.log(.definitionUnreadable, ["container": "\(name)"])
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

    /// Starts the components of containers, and calls back once none of them is worth waiting for.
    private func start(_ loading: [Container], _ done: @escaping () -> Void) {
        var outstanding = loading.count
        guard outstanding > 0 else { return started(done) }
        for container in loading {
            container.loading.whenOver { [self] in
                outstanding -= 1
                if outstanding == 0 { started(done) }
            }
        }
        var rest = loading[...]
        // In slices, because a component in the daemon is made synchronously.
        domain.inSlices { [domain] in
            guard !domain.isStopping, let container = rest.popFirst() else { return false }
            container.loading.run()
            return true
        } then: {
        }
    }

    private func started(_ done: () -> Void) {
        domain.kept?.dropAll(but: Set(containers.values.flatMap(\.slots).map(\.kept.name)))
        done()
    }

    /// Logs which component may have caused the end of the previous process.
    private func blame() {
        if let crashed = state.crashed {
            let reason = domain.isolated.reason(of: crashed.plugin)
            domain.logger.log(
                .componentBlamed,
                [
                    "container": "\(crashed.container)", "component": "\(crashed.component)",
                    "plugin": "\(crashed.plugin)",
                    "reason": "\(reason ?? "It crashed, and its plugin is not there any more.")",
                ])
        }
        guard let left = state.left else { return }
        domain.logger.log(
            .componentBlamed,
            [
                "container": "\(left.container)", "component": "\(left.component)",
                "plugin": "\(left.plugin)", "reason": "\(left.problem)",
            ])
    }

    /// Ends all waiting for components that are being started, because the daemon is about to stop.
    ///
    /// Screens that were not restored yet stay as they were kept. Entries that would make them out of date are not
    /// written.
    public func endWaiting() {
        domain.isWaitingOver = true
        state.expected.end()
        for container in containers.values where container.loading.isUnderWay {
            for slot in container.slots { slot.start.refuseToWait("The daemon is stopping.") }
            container.startsChanged()
        }
        for container in containers.values where container.gates.refusal != nil {
            container.pump()
        }
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

    /// Finishes accepted commands, detaches all components, and closes the store.
    ///
    /// Later commands fail with `storeUnavailable`.
    ///
    /// - Parameter reply: called once the store is closed.
    public func stop(_ reply: @escaping Reply<Void>) {
        domain.stop()
        waitUntilQuiet(by: .now() + .seconds(10), nil) { [self] in close(reply) }
    }

    /// Refuses further commands, and waits until accepted ones are on disk and their notifications are delivered.
    ///
    /// It also waits for readers of screens and for subscribers as long as they read: the next process knows of a
    /// screen only what its reader was sent last, and transient notifications are not stored. Reads, screens and
    /// subscriptions continue.
    ///
    /// - Parameters:
    ///   - limit: the maximum time to wait.
    ///   - reply: called when everything is done, or the time is over.
    public func finishAccepted(within limit: TimeAmount, _ reply: @escaping Reply<Void>) {
        domain.stop()
        let now = NIODeadline.now()
        waitUntilQuiet(by: now + limit, Readers(screens: now + Self.reading)) {
            reply(.success(()))
        }
    }

    /// How long readers of screens may take to pull the pending revisions, and subscribers to pull any notification.
    ///
    /// Slower ones are not waited for.
    private static let reading = TimeAmount.milliseconds(500)

    /// The times until which readers and subscribers are waited for.
    private struct Readers {
        let screens: NIODeadline
        var subscribers: NIODeadline
        var undelivered: Bus.Undelivered?

        init(screens: NIODeadline) {
            self.screens = screens
            subscribers = screens
        }

        /// Extends the subscribers' time while they make progress: the machine may be slow.
        mutating func note(_ now: Bus.Undelivered, until deadline: NIODeadline) {
            if let undelivered, undelivered != now { subscribers = deadline }
            undelivered = now
        }
    }

    /// Calls back once all accepted entries are committed and, unless `readers` is nil, read.
    private func waitUntilQuiet(
        by deadline: NIODeadline, _ readers: Readers?, _ done: @escaping () -> Void
    ) {
        let now = NIODeadline.now()
        var readers = readers
        readers?.note(bus.undelivered, until: now + Self.reading)
        let isQuiet =
            structure.queue.isIdle && !domain.hasArrivals
            && containers.values.allSatisfy(\.isQuiet)
            && (readers.map { isRead(by: $0, now) } ?? true)
        if isQuiet || now > deadline { return done() }
        domain.after(.milliseconds(5)) { [self, readers] in
            waitUntilQuiet(by: deadline, readers, done)
        }
    }

    private func isRead(by readers: Readers, _ now: NIODeadline) -> Bool {
        (now >= readers.subscribers || readers.undelivered?.subscribers == 0)
            && (now >= readers.screens
                || !screens.screens.values.contains(where: \.isBehind))
    }

    private func close(_ reply: @escaping Reply<Void>) {
        endWaiting()
        var screens = Array(screens.screens.values)
        var slots = containers.values.flatMap(\.slots)[...]
        domain.inSlices { [domain] in
            if let screen = screens.popLast() {
                screen.home?.end(screen)
            } else if let slot = slots.popFirst() {
                slot.leave()
                slot.requests.refuseAll(domain.stopping)
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
        screens.removeAll()
        keptScreens.removeAll()
        state.exports.open.endAll()
        state.backups.open.endAll()
        domain.bus.close()
        for name in containers.keys { state.remove(name) }
        let (store, loop) = (domain.store, domain.loop)
        let closed = NIOLoopBound(
            { [domain] in domain.afterArrivals { reply(.success(())) } }, eventLoop: loop)
        // On a thread, because closing the store waits for the disk.
        let (kept, work) = (domain.kept?.end(), domain.threadWork.end())
        let thread = Thread {
            kept?()
            work()
            store.close()
            loop.execute { closed.value() }
        }
        thread.start()
    }
}
