import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import PluginLoader

/// Why a component could not be started.
enum StartFailure {
    /// Another try won't help.
    case final(HostError)
    /// Another try may help.
    case passing(reason: String)
}

/// The start of a slot's component, the first one or another: the component is launched (``ComponentLaunch``) and
/// loaded from the store (``ComponentLoad``), then its container attaches it.
///
/// All of it runs in slices, so that others are served meanwhile. Each start has a number: callbacks of earlier ones are
/// ignored.
///
/// A start that fails is repeated after a pause, which doubles with each failure. Calls wait for the first of these
/// starts; after `limits.restarts` failures they are refused until the component is attached. They are refused, too,
/// while a start is *stalled*, which means that the component has not answered for `limits.startPatience`.
final class ComponentStart {
    private unowned let slot: Slot
    /// The number of the present start.
    private(set) var attempt = 0
    /// The reason for refusing calls while the start is stalled; nil: it is not.
    private(set) var stall: String?
    /// The events that the component sent before it was attached.
    let early = EarlyEvents()

    /// The domain's number when the component's records began to be read; nil: they did not.
    private var readAt: UInt64?
    /// Cancels the launch that is under way.
    private var launching: LaunchCancellation?
    /// The permission to launch, while the launch is under way.
    private var turn: StartTurns.Turn?
    /// Called when this start ends.
    private var done: ((StartFailure?) -> Void)?
    /// Called when the start stalls; it may still succeed afterwards.
    private var stalled: (() -> Void)?
    /// Why the component was lost after its load and before it was attached.
    private var earlyLoss: String?
    /// Whether the component was attached before.
    private var hasSucceeded = false
    private var watch = StartWatch()

    init(of slot: Slot) { self.slot = slot }

    /// Whether calls wait for its end.
    var isWorthWaitingFor: Bool {
        switch slot.state {
        case .starting, .prepared: stall == nil
        case .attached, .failed, .closed: false
        }
    }

    /// Whether the component may hold records that were in the store before this number was given.
    func hasRead(before number: UInt64) -> Bool { readAt.map { $0 < number } ?? false }

    // MARK: Begin and end

    /// Tries to start the component until that succeeds or has failed too often; then the container attaches it.
    func run(_ done: @escaping () -> Void) {
        prepare { [weak slot] in slot?.start.finish(after: $0, done) }
    }

    /// Launches and loads the component, once.
    ///
    /// - Parameter done: called at the end; not called if the slot was closed or started anew meanwhile.
    func prepare(_ done: @escaping (StartFailure?) -> Void) {
        let slot = slot
        slot.begin()
        attempt += 1
        guard let plugin = slot.plugin, let container = slot.container else {
            return done(.final(pluginMissing))
        }
        // Before the first restart: otherwise the counter would appear with the value 1, and no increase would be
        // seen.
        if slot.isolation == .process { container.meters.expectRestarts(of: slot.name) }
        ComponentLaunch(of: plugin, for: slot, done).run()
    }

    /// Handles the end of a start: the component is attached, started again, or given up.
    func finish(after failure: StartFailure?, _ done: @escaping () -> Void) {
        switch failure {
        case nil: slot.container?.attach(slot) { done() }
        // The same definition has worked before, so the problem may be a passing one.
        case .final(let error) where hasSucceeded: retryLater(because: error.sentence, done)
        case .final(let error): giveUp(because: error.sentence, done)
        case .passing(let reason): retryLater(because: reason, done)
        }
    }

    /// Does what ``run(_:)`` does, after a pause that grows with each failure.
    func restart(because reason: String) {
        slot.beginPause()
        retryLater(because: reason) {}
    }

    /// Does what ``restart(because:)`` does, for a component that was lost before the container attached it.
    func restartUnattached() {
        let reason = earlyLoss
        earlyLoss = nil
        restart(because: reason ?? "Its worker ended before it was attached.")
    }

    /// Starts a component again that was given up, because somebody needs it.
    func retryNow() {
        guard case .failed = slot.state, slot.plugin != nil else { return }
        slot.failures.reset()
        run {}
    }

    /// Ends a start, because the component was lost before it was part of the container.
    func fail(because reason: String) {
        let done = takeDone()
        if done == nil { earlyLoss = reason }
        slot.release()
        attempt += 1
        done?(.passing(reason: reason))
    }

    /// Records that the component is attached, and logs and posts it after failures.
    func succeed() {
        let slot = slot
        if endStall() || slot.failures.isRefusing {
            slot.domain.logger.log(.componentRevived, slot.logFields())
        }
        if slot.failures.restarts?.next != nil {
            slot.container?.post(
                "components.recovered",
                Payload.object {
                    $0.member("component", slot.name)
                    $0.member("plugin", slot.definition.plugin)
                })
        }
        slot.failures.recover()
        hasSucceeded = true
    }

    /// Ends all starts, because the slot is closed.
    func end() {
        attempt += 1
        done = nil
        stalled = nil
    }

    /// Cancels a launch that is under way, and forgets what the component read and sent.
    func cancel() {
        let cancel = launching
        launching = nil
        cancel?()
        watch.end()
        endTurn()
        Discard.later(early.takeAll())
        readAt = nil
    }

    private func takeDone() -> ((StartFailure?) -> Void)? {
        defer { done = nil }
        return done
    }

    private func endStall() -> Bool {
        defer { stall = nil }
        return stall != nil
    }

    private func endTurn() {
        let turn = turn
        self.turn = nil
        turn?.end()
    }

    private var pluginMissing: HostError {
        let (plugins, id) = (slot.domain.plugins, slot.definition.plugin)
        guard plugins.delegate(id) == nil else {
            return .definitionInvalid(
                container: slot.container?.name ?? "",
                reason:
                    "The plugin \(id) makes delegates, and no components: name it under 'delegate'."
            )
        }
        return .pluginNotFound(id, known: plugins.identifiers)
    }
}

// MARK: Stages

extension ComponentStart {
    /// Keeps the permission to launch until the launch ends.
    func setTurn(_ turn: StartTurns.Turn) { self.turn = turn }

    /// Records that the component is being launched.
    ///
    /// - Parameter cancel: cancels the launch.
    func launching(_ cancel: @escaping LaunchCancellation) { launching = cancel }

    /// Records that the launch has ended.
    func endLaunch() {
        launching = nil
        watch.end()
        endTurn()
    }

    /// Records that the component is launched, and is loaded next.
    ///
    /// - Parameter done: called when it is loaded.
    func load(then done: @escaping (StartFailure?) -> Void) { self.done = done }

    /// Records that the component's records are read from now on.
    func beginReading() { readAt = slot.domain.nextTicket() }

    /// Records that the component is loaded.
    func loaded() { takeDone()?(nil) }
}

// MARK: Failures

extension ComponentStart {
    /// Starts the component after a pause, which doubles with each failure.
    private func retryLater(because reason: String, _ done: @escaping () -> Void) {
        let (slot, domain) = (slot, slot.domain)
        slot.failures.add()
        domain.slices.countStep()
        let pause = min(
            .milliseconds(100 << min(slot.failures.count - 1, 20)), domain.limits.restartPause)
        slot.failures.pause(until: domain.now().after(pause), because: reason)
        announceRestart()
        let isRefusing = slot.failures.count > domain.limits.restarts
        if isRefusing { refuseWhileFailing(because: reason, for: pause, done) }
        let attempt = attempt
        domain.timers.after(TimeAmount(pause)) { [weak slot] in
            guard let slot, slot.start.attempt == attempt else { return }
            switch slot.state {
            case .starting where !isRefusing: slot.start.run(done)
            case .failed(let reason) where isRefusing:
                slot.start.run {}
                // Calls don't wait for a component that has failed so often.
                if case .starting = slot.state { slot.start.stall = reason }
            default: break
            }
        }
    }

    /// Refuses calls until the component is attached; tries to start it continue.
    private func refuseWhileFailing(because reason: String, for pause: Duration, _ done: () -> Void)
    {
        let isNew = slot.failures.markRefusing()
        let reason =
            "It ended \(slot.failures.count) times in a row, and is started again at "
            + "\(slot.domain.now().after(pause).text): \(reason)"
        refuse(because: reason, isNew: isNew, retryAfter: max(1, pause / .seconds(1)), done)
    }

    private func giveUp(because reason: String, _ done: () -> Void) {
        refuse(because: reason, isNew: true, retryAfter: 5, done)
    }

    /// Ends the start, and refuses the calls that wait for it.
    private func refuse(because reason: String, isNew: Bool, retryAfter: Double, _ done: () -> Void)
    {
        let slot = slot
        slot.failed(because: reason)
        stall = nil
        slot.container?.structureChanged()
        if isNew {
            slot.domain.logger.log(.componentFailed, slot.logFields(["reason": "\(reason)"]))
        }
        slot.requests.refuseAll(of: slot, slot.failed(reason, retryAfter: retryAfter))
        slot.container?.startsChanged()
        done()
    }

    /// Posts that the component ended or could not be started, and when it is started again.
    private func announceRestart() {
        guard let restarts = slot.failures.restarts else { return }
        slot.container?.post(
            "components.ended",
            Payload.object {
                $0.member("component", slot.name)
                $0.member("plugin", slot.definition.plugin)
                $0.member("reason", restarts.cause)
                $0.member("failures", restarts.failures)
                $0.member("next", restarts.next?.text)
            })
    }
}

// MARK: Stalled starts

extension ComponentStart {
    /// Sets the callback for a stall; nil removes it.
    func onStall(_ body: (() -> Void)?) { stalled = body }

    /// Records that the start waits for an answer of the component from now on.
    func awaitAnswer() {
        // A component in the daemon answers synchronously.
        guard slot.isolation == .process else { return }
        if watch.awaitAnswer() { checkLater() }
    }

    /// Records that the component has answered, or that the answer is not needed any more.
    func endAwaiting() { watch.end() }

    private func checkLater() {
        let (domain, seen) = (slot.domain, watch.seen)
        domain.timers.after(TimeAmount(domain.limits.startPatience)) { [weak slot] in
            slot?.start.check(since: seen)
        }
    }

    private func check(since seen: UInt64) {
        switch watch.check(since: seen) {
        case .again: checkLater()
        case .over: break
        case .stalled: refuseStalled()
        }
    }

    /// Refuses calls from now on; the component may still answer and be attached.
    private func refuseStalled() {
        let (slot, domain) = (slot, slot.domain)
        endTurn()
        guard stall == nil, let container = slot.container else { return }
        let reason =
            "Its plugin \(slot.definition.plugin) has not answered for "
            + "\(domain.limits.startPatience) while it is being started. It is taken in once it answers; look for it in the log, "
            + "or detach it with 'atriumctl detach \(slot.containerName) \(slot.name)'."
        domain.slices.countStep()
        domain.logger.log(.componentStalled, slot.logFields(["reason": "\(reason)"]))
        refuseToWait(reason)
        container.structureChanged()
        container.startsChanged()
        let stalled = stalled
        self.stalled = nil
        stalled?()
        slot.settingsChange.end()
    }

    /// Refuses the calls that wait for the start, and later ones; does nothing if the start is over.
    func refuseToWait(_ reason: String) {
        guard isWorthWaitingFor else { return }
        stall = reason
        slot.requests.refuseAll(of: slot, slot.stalled(reason))
    }
}
