import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import PluginLoader
import Store

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
    /// Refuses calls while the start makes no progress.
    let watch: StartWatch
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
    /// Why the component was lost after its load and before it was attached.
    private var earlyLoss: String?
    /// Whether the component was attached before.
    private var hasSucceeded = false

    init(of slot: Slot) {
        self.slot = slot
        watch = StartWatch(of: slot)
    }

    /// Whether calls wait for its end.
    var isWorthWaitingFor: Bool {
        switch slot.state {
        case .starting, .prepared: watch.stall == nil
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

    /// Launches and loads the component, once; `done` is not called if the slot was closed or started anew meanwhile.
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
        case .final(let error) where hasSucceeded:
            retryLater(because: error.sentence, isStart: true, done)
        case .final(let error): giveUp(because: error.sentence, done)
        case .passing(let reason): retryLater(because: reason, isStart: true, done)
        }
    }

    /// Does what ``run(_:)`` does, after a pause that grows with each failure.
    func restart(because reason: String) {
        slot.beginPause()
        retryLater(because: reason, isStart: false) {}
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
        if watch.endStall() || slot.failures.isRefusing {
            slot.domain.logger.log(.componentRevived, slot.logFields())
        }
        if slot.failures.restarts?.next != nil {
            slot.container?.post(
                "components.recovered",
                Payload.object {
                    $0.member("component", slot.name)
                    $0.member("plugin", slot.definition.plugin)
                }, restricted: nil)
        }
        slot.failures.recover()
        hasSucceeded = true
    }

    /// Ends all starts, because the slot is closed.
    func end() {
        attempt += 1
        done = nil
        watch.onStall(nil)
    }

    /// Cancels a launch that is under way, and forgets what the component read and sent.
    func cancel() {
        let cancel = launching
        launching = nil
        cancel?()
        watch.endAwaiting()
        endTurn()
        Discard.later(early.takeAll())
        readAt = nil
    }

    private func takeDone() -> ((StartFailure?) -> Void)? {
        defer { done = nil }
        return done
    }

    /// Lets another component be launched.
    func endTurn() {
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

    /// Records that the component is being launched, and how to cancel that.
    func launching(_ cancel: @escaping LaunchCancellation) { launching = cancel }

    func endLaunch() {
        launching = nil
        watch.endAwaiting()
        endTurn()
    }

    /// Records that the component is launched, and is loaded next.
    func load(then done: @escaping (StartFailure?) -> Void) { self.done = done }

    /// Records that the component's records are read from now on.
    func beginReading() { readAt = slot.domain.nextTicket() }

    func loaded() { takeDone()?(nil) }
}

// MARK: Failures

extension ComponentStart {
    /// Starts the component after a pause, which doubles with each failure: the end of the component, or a failed start.
    private func retryLater(
        because reason: String, isStart: Bool, _ done: @escaping () -> Void
    ) {
        let (slot, domain) = (slot, slot.domain)
        slot.failures.add(isStart: isStart)
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
                if case .starting = slot.state { slot.start.watch.refuseLater(reason) }
            default: break
            }
        }
    }

    /// Refuses calls until the component is attached; tries to start it continue.
    private func refuseWhileFailing(because reason: String, for pause: Duration, _ done: () -> Void)
    {
        let isNew = slot.failures.markRefusing()
        let failures = slot.failures.restarts?.inARow ?? "failed"
        let reason =
            "It \(failures), and is started again at "
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
        _ = watch.endStall()
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
                $0.member("failures", restarts.failures)
                $0.member("next", restarts.next?.text)
            }, restricted: Payload.object { $0.member("reason", restarts.cause) })
    }
}

// MARK: - Launch

/// The launch of a component at one start: its secrets, the paths that it may read and what it kept are found, then
/// its launcher makes it when its turn comes, and it is loaded.
final class ComponentLaunch {
    private weak var slot: Slot?
    private let attempt: Int
    private let isolation: Isolation
    private var request: LaunchRequest
    private let done: (StartFailure?) -> Void

    /// A launch for the present start of a component; `done` is not called if the slot was closed or started anew
    /// meanwhile.
    init(of plugin: Plugin, for slot: Slot, _ done: @escaping (StartFailure?) -> Void) {
        self.slot = slot
        self.done = done
        attempt = slot.start.attempt
        isolation = slot.isolation
        request = LaunchRequest(
            plugin: plugin, container: slot.containerName, component: slot.name,
            settings: slot.definition.settings, fields: slot.fields, limits: slot.domain.limits)
        request.limits.callTime = slot.callTime
        request.callSetting = slot.callSetting
    }

    /// The slot; nil if it was closed or started anew meanwhile.
    private var wanted: Slot? { slot.flatMap { $0.start.attempt == attempt ? $0 : nil } }

    func run() {
        guard let domain = slot?.domain else { return }
        SecretTexts.read(
            request.settings, isCheck: domain.isCheck, on: domain.loop
        ) { [self] result in
            guard let slot = wanted else { return }
            switch result {
            case .failure(let error): done(failure(.setting(error)))
            case .success(let secrets):
                request.secrets = secrets
                findReadable(slot)
            }
        }
    }

    /// Finds the paths that the component may read in a worker.
    private func findReadable(_ slot: Slot) {
        guard isolation == .process, !request.plugin.paths.isEmpty else { return findKept(slot) }
        let domain = slot.domain
        let store = domain.store.file
        // A network file system may not answer: then the start counts as one without progress.
        slot.start.watch.awaitAnswer()
        ReadablePaths(
            request.settings, named: request.plugin.paths,
            state: store.lastIndex(of: "/").map { String(store[..<$0]) } ?? ".",
            secrets: domain.secretFiles() + ComponentDefinition.secretFiles(request.settings)
        ).resolve(on: domain.loop) { [self] result in
            guard let slot = wanted else { return }
            slot.start.watch.endAwaiting()
            switch result {
            case .failure(let error): done(failure(.setting(error)))
            case .success(let paths):
                request.readable = paths
                findKept(slot)
            }
        }
    }

    /// Reads what the component kept in an earlier life.
    private func findKept(_ slot: Slot) {
        slot.kept.read { [self] kept in
            guard let slot = wanted else { return }
            request.kept = kept
            waitForTurn(slot)
        }
    }

    /// Launches the component when the number of components that are being launched allows it.
    private func waitForTurn(_ slot: Slot) {
        guard isolation == .process else { return launch(slot) }
        slot.domain.starts.acquire { [self] turn in
            guard let slot = wanted else { return turn.end() }
            slot.start.setTurn(turn)
            // Before the launch, because the answer may come synchronously.
            slot.start.watch.awaitAnswer()
            launch(slot)
        }
    }

    private func launch(_ slot: Slot) {
        var isAnswered = false
        let giveUp = slot.domain.launcher(for: isolation).launch(request, owner: slot.reports) {
            [self] result in
            isAnswered = true
            guard let slot = wanted else {
                if case .success(let port) = result { port.close() }
                return
            }
            slot.start.endLaunch()
            switch result {
            case .failure(let reason): done(failure(reason))
            case .success(let port) where port.kind != request.plugin.kind:
                port.close()
                done(.final(wrongKind(port.kind)))
            case .success(let port):
                slot.connect(port)
                slot.start.load(then: done)
                ComponentLoad(of: slot).run()
            }
        }
        if !isAnswered { slot.start.launching(giveUp) }
    }

    private func wrongKind(_ kind: Kind) -> HostError {
        .definitionInvalid(
            container: request.container,
            reason: "The plugin \(request.plugin.id) makes components of the kind "
                + "'\(kind.rawValue)' although its manifest says otherwise.")
    }

    private func failure(_ failure: LaunchFailure) -> StartFailure {
        switch failure {
        case .setting(let error):
            .final(
                .settingInvalid(
                    component: request.component, setting: error.setting, reason: error.reason))
        case .failed(let reason):
            .final(
                .definitionInvalid(
                    container: request.container,
                    reason: "The component '\(request.component)' can't be made: \(reason)"))
        case .unavailable(let reason): .passing(reason: reason)
        }
    }
}
