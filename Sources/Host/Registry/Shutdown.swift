import Foundation
public import NIOCore
import Store

/// The orderly end of a registry: once for each registry, and in this order.
///
/// 1. ``endWaiting()`` ends all waiting for components that are being started.
/// 2. ``finishAccepted(within:_:)`` refuses further commands, and waits until accepted ones are on disk.
/// 3. ``run(_:)`` detaches all components and closes the store. It includes the stages before, if these were skipped.
///
/// No stage can be undone: afterwards the registry takes no more commands, and a new process opens the store.
public final class Shutdown {
    /// How long readers of screens may take to pull the pending revisions, and subscribers to pull any notification.
    ///
    /// Slower ones are not waited for.
    private static let reading = TimeAmount.milliseconds(500)

    private let state: RegistryState
    private let changes: StructureQueue
    private var domain: Domain { state.domain }
    private var containers: [String: Container] { state.containers }
    /// The times until which accepted commands, readers of screens and subscribers are waited for.
    private var commands = NIODeadline.now()
    private var screens = NIODeadline.now()
    private var subscribers = NIODeadline.now()
    /// The notifications that subscribers had not pulled at the last check.
    private var undelivered: Bus.Undelivered?

    init(of state: RegistryState, after changes: StructureQueue) {
        self.state = state
        self.changes = changes
    }

    /// Ends all waiting for components that are being started, because the daemon is about to stop.
    ///
    /// Screens that were not restored yet stay as they were kept. Entries that would make them out of date are not
    /// written.
    public func endWaiting() {
        domain.isWaitingOver = true
        state.expected.end()
        for container in containers.values where container.loading.isUnderWay {
            for slot in container.slots { slot.start.watch.refuseToWait("The daemon is stopping.") }
            container.startsChanged()
        }
        for container in containers.values where container.gates.refusal != nil {
            container.pump()
        }
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
        (commands, screens, subscribers) = (now + limit, now + Self.reading, now + Self.reading)
        waitUntilQuiet(isRead) { reply(.success(())) }
    }

    /// Finishes accepted commands, detaches all components, and closes the store.
    ///
    /// Later commands fail with `storeUnavailable`. The reply is sent once the store is closed.
    public func run(_ reply: @escaping Reply<Void>) {
        domain.stop()
        commands = .now() + .seconds(10)
        waitUntilQuiet({ _ in true }, { [self] in detachAll(reply) })
    }

    /// Calls back once all accepted entries are committed, and all is read.
    private func waitUntilQuiet(
        _ isRead: @escaping (NIODeadline) -> Bool, _ done: @escaping () -> Void
    ) {
        let now = NIODeadline.now()
        let isAllRead = isRead(now)
        let isQuiet =
            changes.isIdle && !domain.commits.hasArrivals && containers.values.allSatisfy(\.isQuiet)
        if (isQuiet && isAllRead) || now > commands { return done() }
        domain.timers.after(.milliseconds(5)) { [self] in waitUntilQuiet(isRead, done) }
    }

    /// Whether readers of screens and subscribers have read everything, or their time is over.
    private func isRead(_ now: NIODeadline) -> Bool {
        let present = domain.bus.undelivered
        // Subscribers get more time while they make progress: the machine may be slow.
        if let undelivered, undelivered != present { subscribers = now + Self.reading }
        undelivered = present
        return (now >= subscribers || present.subscribers == 0)
            && (now >= screens || !state.screens.screens.values.contains(where: \.isBehind))
    }

    private func detachAll(_ reply: @escaping Reply<Void>) {
        endWaiting()
        var screens = Array(state.screens.screens.values)
        var slots = containers.values.flatMap(\.slots)[...]
        domain.slices.run { [domain] in
            if let screen = screens.popLast() {
                screen.home?.end(screen)
            } else if let slot = slots.popFirst() {
                slot.leave()
                slot.requests.refuseAll(of: slot, domain.stopping)
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
        state.keptScreens.removeAll()
        state.exports.open.endAll()
        state.backups.open.endAll()
        domain.bus.close()
        for name in containers.keys { state.remove(name) }
        let (store, loop) = (domain.store, domain.loop)
        let closed = NIOLoopBound(
            { [domain] in domain.commits.afterArrivals { reply(.success(())) } }, eventLoop: loop)
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
