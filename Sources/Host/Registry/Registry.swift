public import AtriumKit
import Foundation
public import LogMessages
public import Logging
public import NIOCore
public import PluginLoader
public import Store

/// Finds containers by name, and starts and stops what they share.
///
/// Every method must be called on the event loop, and traps elsewhere; only ``identity`` may be read on other threads.
/// A ``Container`` that a method returns must not leave the event loop either.
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

    /// Records in memory which component or delegate is being called, for a crash handler to write down.
    public let crashNote: CrashNote

    private let loop: any EventLoop
    private let changes: StructureChanges
    private let people: Erasures
    private let pluginReloads: PluginReloads
    private let start: Startup
    private let shared: RegistryState

    /// Opens the store and makes a registry, which is empty until ``Startup/load(_:known:)``.
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
        let store = try openStore { relay.relay($0) }
        let actors = ActorTable()
        let notes = ProcessNotes(
            making: InitNote(beside: store.file, logger: logger),
            crash: CrashNote(beside: store.file, logger: logger))
        let crashed = notes.crash.left
        let isolated = IsolatedPlugins(
            beside: store.file, crashed: crashed,
            path: { id in
                plugins.plugins.first { $0.id == id && $0.state == .loaded }?.path
            }, now: clock(), logger: logger)
        notes.crash.clear()
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
        let left = crashed == nil ? notes.making.left : nil
        shared = RegistryState(domain)
        changes = StructureChanges(in: shared)
        pluginReloads = PluginReloads(in: shared, by: changes)
        people = Erasures(in: shared, after: changes.queue)
        start = Startup(of: shared, people, left: left, crashed)
        bus.foundDamage = { [weak domain] in domain?.record($0) }
        bus.isReadable = { [weak shared] comment, item in
            shared?.containers[comment.container]?.comments.isReadable(comment, on: item) ?? false
        }
        relay.connect { [weak self] outcomes in
            guard let self else { return }
            loop.execute { self.domain.commits.deliver(outcomes) }
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

    /// Sets the limits for what comes from now on; what was accepted before stays.
    public func limit(to limits: HostLimits) { domain.limits = limits }

    /// The start: reading the store, and what is known of the previous process.
    public var startup: Startup {
        loop.preconditionInEventLoop()
        return start
    }

    /// The stages of the end.
    public var shutdown: Shutdown { Shutdown(of: state, after: structure.queue) }

    /// The settings that plugins take.
    public var settings: PluginSettings { state.settings }

    /// Replaces plugins' code.
    public var reloads: PluginReloads {
        loop.preconditionInEventLoop()
        return pluginReloads
    }

    /// The erasure of persons.
    public var erasures: Erasures {
        loop.preconditionInEventLoop()
        return people
    }

    /// Changes which containers there are, and of what components they consist.
    public var structure: StructureChanges {
        loop.preconditionInEventLoop()
        return changes
    }

    /// Calls that wait while definitions are being applied.
    public var expected: ExpectedContainers { state.expected }

    /// Runs work on a thread, where it waits for the turn of its user, empty for the host itself.
    ///
    /// `then` is called on the loop with the result, and never if the end has begun before the work's turn.
    public func runOnThread<T: Sendable>(
        of user: String, _ work: @escaping @Sendable () -> T, then: @escaping (T) -> Void
    ) {
        state.domain.threadWork.add(of: user, { work }, then: then)
    }

    /// All screens.
    public var screens: ScreenTable { state.screens }

    /// Screens that are kept over a restart.
    public var keptScreens: KeptScreens { state.keptScreens }

    /// Verifications of the store.
    public var verifications: Verifications { state.verifications }

    /// Exports of containers' records.
    public var exports: Exports { state.exports }

    /// Backups of the store.
    public var backups: Backups { state.backups }
}

// MARK: - Finding the container that a call names

extension Registry {
    /// The container of a name if calls can use it now, without waiting.
    ///
    /// Nil when it does not exist or is being loaded; ``find(_:of:_:)`` distinguishes these.
    public func container(_ name: String) -> Container? {
        guard let container = state.container(name), !container.loading.isUnderWay else {
            return nil
        }
        return container
    }

    /// Finds the container that a call names, and waits for it if it is being loaded.
    ///
    /// - Parameters:
    ///   - name: the container's name.
    ///   - user: whose call it is; the number of calls that wait is limited for each user.
    ///   - reply: called at once, or once the container's components are started or the definitions that may create
    ///     it are applied. Fails with `containerNotFound`, or with `componentUnavailable` or `storeUnavailable` when
    ///     too many calls are waiting already.
    public func find(
        _ name: String, of user: String = "", _ reply: @escaping Answer<Container>
    ) {
        guard let container = containers[name] else { return expect(name, of: user, reply) }
        guard container.loading.isUnderWay else { return reply(.success(container)) }
        // Looks the name up again: the container may have been replaced or deleted meanwhile.
        container.loading.whenOver(of: user, reply) { [self] in find(name, of: user, reply) }
    }

    /// Waits for a container that may be created by the definitions that are being applied.
    private func expect(_ name: String, of user: String, _ reply: @escaping Answer<Container>) {
        guard expected.isExpecting else {
            return reply(.failure(.containerNotFound(name)))
        }
        do throws(WaitPermits.Full) {
            try expected.wait(for: name, of: user) { [self] in find(name, of: user, reply) }
        } catch {
            reply(
                .failure(
                    .storeUnavailable(
                        reason: "Definitions are being applied. \(error.reason)",
                        retryAfter: 0.5)))
        }
    }

    /// Finds a container, and passes a failure to the caller's reply.
    func with<T>(
        _ name: String, of user: String = "", _ reply: @escaping Reply<T>,
        _ body: @escaping (Container) -> Void
    ) {
        find(name, of: user) { found in
            switch found {
            case .success(let container): body(container)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    /// Counts a write, and refuses it if the caller wrote too much in the last minute.
    ///
    /// Called once for each call that writes, before anything else.
    ///
    /// - Parameters:
    ///   - bytes: the size of the call.
    ///   - caller: on whose behalf.
    /// - Returns: `limitExceeded` if the write is refused: with the time to try again, or without one if it is a
    ///   front end's new person beyond the limit of persons; nil: the write may proceed.
    public func refusal(ofWriting bytes: Int, by caller: Caller) -> HostError? {
        guard caller.pace != .free else { return nil }
        let most = domain.limits.frontendPeople
        if domain.actors.number(of: caller.actor) == nil,
            domain.actors.count(likeThatOf: caller.actor) >= most
        {
            return .limitExceeded(limit: "frontendPeople", value: most, retryAfter: nil)
        }
        return state.rates.refusal(
            ofWriting: bytes, by: caller, domain.limits, at: NIODeadline.now())
    }
}

// MARK: - Containers as clients see them

extension Registry {
    /// All containers, sorted by name; `hasDetails`: with how components failed, for moderators and administrators.
    public func list(hasDetails: Bool) -> [ContainerStatus] {
        containers.values.sorted { $0.name < $1.name }
            .map { ContainerStatus(of: $0, hasDetails: hasDetails) }
    }

    /// The last durable sequence that lists, screens and notifications reflect.
    public var sequence: Int64 { domain.commits.sequence }

    /// Describes one container, with its own votes and comments; throws `containerNotFound`.
    ///
    /// `hasDetails`: with how components failed, for moderators and administrators.
    public func describe(
        _ name: String, hasDetails: Bool
    ) throws(HostError) -> ContainerDescription {
        guard let container = containers[name] else { throw .containerNotFound(name) }
        return ContainerDescription(
            status: ContainerStatus(of: container, hasDetails: hasDetails),
            votes: container.first(.votes).flatMap {
                $0.isShown ? $0.tally(of: .container) ?? Tally() : nil
            },
            comments: container.first(.comments).flatMap {
                $0.isShown ? $0.commentCount(of: .container) ?? 0 : nil
            },
            sequence: domain.commits.sequence)
    }
}

/// The system's clock.
public enum SystemClock {
    /// The present time.
    @Sendable public static func now() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    }
}
