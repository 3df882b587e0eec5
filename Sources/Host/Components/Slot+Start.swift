import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import PluginLoader
import Store

/// What a component reported at the end of its load, to be delivered when its container attaches it.
struct Loaded {
    var state = LoadedState()
    /// The items, if they are exactly its records, so that no event reports them.
    var items: RecordItems?

    /// All items, wherever they come from.
    var list: ItemList {
        if let items { return (items.count, items.item) }
        let reported = state.items ?? Pieces()
        return (reported.count, { reported[$0] })
    }
}

/// Items by their place, made on demand.
typealias ItemList = (count: Int, item: (Int) -> Item?)

/// Why a component could not be started.
enum StartFailure {
    /// Another try won't help.
    case final(HostError)
    /// Another try may help.
    case passing(reason: String)
}

// The start of a component: it is launched and loaded from the store, its list is filled, and its container attaches
// it.
//
// All of it runs in slices, so that others are served meanwhile.
extension Slot {
    /// Launches and loads the component, once.
    ///
    /// - Parameter done: called at the end; not called if the slot was closed or started anew meanwhile.
    func prepare(_ done: @escaping (StartFailure?) -> Void) {
        _ = begin()
        guard let plugin, let container else {
            return done(.final(pluginMissing))
        }
        // Before the first restart: otherwise the counter would appear with the value 1, and no increase would be
        // seen.
        if isolation == .process { container.meters.expectRestarts(of: name) }
        ComponentLaunch(of: plugin, for: self, done).run()
    }

    /// Tries to start the component until that succeeds or has failed too often; then the container attaches it.
    func startUntilAttached(_ done: @escaping () -> Void) {
        prepare { [weak self] in self?.goOn(after: $0, done) }
    }

    /// Handles the end of a start: the component is attached, started again, or given up.
    func goOn(after failure: StartFailure?, _ done: @escaping () -> Void) {
        switch failure {
        case nil: container?.takeIn(self) { done() }
        // The same definition has worked before, so the problem may be a passing one.
        case .final(let error) where progress.wasStarted:
            tryAgain(because: error.sentence, done)
        case .final(let error): giveUp(because: error.sentence, done)
        case .passing(let reason): tryAgain(because: reason, done)
        }
    }

    /// Does what ``startUntilAttached(_:)`` does, after a pause that grows with each failure.
    func restart(because reason: String) {
        beginPause()
        tryAgain(because: reason) {}
    }

    /// Does what ``restart(because:)`` does, for a component that was lost before the container attached it.
    func restartUntaken() {
        restart(
            because: progress.takeEarlyLoss() ?? "Its worker ended before it was attached.")
    }

    /// Starts a component again that was given up, because somebody needs it.
    func revive() {
        guard case .failed = state, plugin != nil else { return }
        progress.forgetFailures()
        startUntilAttached {}
    }

    /// Starts the component after a pause, which doubles with each failure.
    ///
    /// Calls wait for the first of these starts. After `limits.restarts` failures they are refused until the
    /// component is attached.
    private func tryAgain(because reason: String, _ done: @escaping () -> Void) {
        let failures = progress.fail()
        domain.steps += 1
        let pause = min(.milliseconds(100 << min(failures - 1, 20)), domain.limits.restartPause)
        progress.pause(until: domain.now().after(pause), because: reason)
        announceRestart()
        let isIll = failures > domain.limits.restarts
        if isIll { fallIll(because: reason, for: pause, done) }
        let attempt = start
        domain.after(TimeAmount(pause)) { [weak self] in
            guard let self, start == attempt else { return }
            switch state {
            case .starting where !isIll: startUntilAttached(done)
            case .failed(let reason) where isIll:
                startUntilAttached {}
                // Calls don't wait for a component that has failed so often.
                if case .starting = state { progress.stall(because: reason) }
            default: break
            }
        }
    }

    /// Refuses calls until the component is attached; tries to start it continue.
    private func fallIll(because reason: String, for pause: Duration, _ done: () -> Void) {
        let isNew = progress.becomeIll()
        let reason =
            "It ended \(progress.failures) times in a row, and is started again at "
            + "\(domain.now().after(pause).text): \(reason)"
        failed(because: reason)
        _ = progress.endStall()
        container?.structureChanged()
        if isNew { domain.logger.log(.componentFailed, logFields(["reason": "\(reason)"])) }
        requests.refuseAll(unavailable(reason, retryAfter: max(1, pause / .seconds(1))))
        container?.startsChanged()
        done()
    }

    private func giveUp(because reason: String, _ done: () -> Void) {
        failed(because: reason)
        _ = progress.endStall()
        container?.structureChanged()
        domain.logger.log(.componentFailed, logFields(["reason": "\(reason)"]))
        requests.refuseAll(unavailable(reason, retryAfter: 5))
        container?.startsChanged()
        done()
    }

    /// Posts that the component ended or could not be started, and when it is started again.
    private func announceRestart() {
        guard let restarts = progress.restarts else { return }
        container?.post(
            "components.ended",
            Payload.object {
                $0.member("component", name)
                $0.member("plugin", definition.plugin)
                $0.member("reason", restarts.cause)
                $0.member("failures", restarts.failures)
                $0.member("next", restarts.next?.text)
            })
    }

    /// Ends a start, because the component was lost before it was part of the container.
    func failStart(because reason: String) {
        let done = progress.takeDone()
        if done == nil { progress.loseEarly(because: reason) }
        release()
        _ = progress.begin()
        done?(.passing(reason: reason))
    }

    /// Cancels what is under way for a component that is being launched.
    func endStart() {
        progress.takeLaunching()?()
        progress.endAwaiting()
        progress.takeTurn()?.end()
        Discard.later(progress.takeEvents())
    }
}

// MARK: Stalled starts

extension Slot {
    /// Whether calls wait for its start.
    var isWorthWaitingFor: Bool {
        switch state {
        case .starting, .prepared: stall == nil
        case .attached, .failed, .closed: false
        }
    }

    /// Notes that the start waits for an answer of the component from now on.
    func awaitComponent() {
        // A component in the daemon answers synchronously.
        guard isolation == .process else { return }
        if progress.awaitAnswer() { lookAtStart() }
    }

    private func lookAtStart() {
        let seen = progress.seen
        domain.after(TimeAmount(domain.limits.startPatience)) { [weak self] in
            guard let self else { return }
            switch progress.look(since: seen) {
            case .again: lookAtStart()
            case .over: break
            case .stalled: standStill()
            }
        }
    }

    /// Refuses calls from now on; the component may still answer and be attached.
    private func standStill() {
        progress.takeTurn()?.end()
        guard stall == nil, let container else { return }
        let reason =
            "Its plugin \(definition.plugin) has not answered for \(domain.limits.startPatience) "
            + "while it is being started. It is taken in once it answers; look for it in the log, "
            + "or detach it with 'atriumctl detach \(containerName) \(name)'."
        domain.steps += 1
        domain.logger.log(.componentStalled, logFields(["reason": "\(reason)"]))
        refuseToWait(reason)
        container.structureChanged()
        container.startsChanged()
        progress.takeStalled()?()
        settingsChange.end()
    }

    /// Refuses the calls that wait for the start, and later ones; does nothing if the start is over.
    func refuseToWait(_ reason: String) {
        guard isWorthWaitingFor else { return }
        progress.stall(because: reason)
        requests.refuseAll(unavailable(reason, retryAfter: 5))
    }

    /// Notes that the component is attached, and logs and posts it after failures.
    func noteStarted() {
        let wasStalled = progress.endStall()
        if wasStalled || progress.isIll { domain.logger.log(.componentRevived, logFields()) }
        if progress.restarts?.next != nil {
            container?.post(
                "components.recovered",
                Payload.object {
                    $0.member("component", name)
                    $0.member("plugin", definition.plugin)
                })
        }
        progress.recover()
    }

    private var pluginMissing: HostError {
        guard domain.plugins.delegate(definition.plugin) == nil else {
            return .definitionInvalid(
                container: container?.name ?? "",
                reason:
                    "The plugin \(definition.plugin) makes delegates, and no components: name it "
                    + "under 'delegate'.")
        }
        return .pluginNotFound(definition.plugin, known: domain.plugins.identifiers)
    }
}
extension Timestamp {
    /// The time that is `time` later.
    func after(_ time: Duration) -> Timestamp {
        let (seconds, fraction) = time.components
        return Timestamp(
            milliseconds: milliseconds + seconds * 1_000 + fraction / 1_000_000_000_000_000)
    }
}
