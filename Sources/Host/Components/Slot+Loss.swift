import AtriumKit
import DequeModule
import LogMessages
import Logging
import NIOCore

// The end of the component's worker, and calls that take too long.
//
// A worker answers one call before it begins the next, so the call that it was handling is known. That call is sent
// once more, because a worker may end for other reasons. If it ends a worker again, or was not answered in time, it
// is blamed: it is refused for a while, and the component does not count as failing.
extension Slot {
    /// Handles the loss of the worker: restarts the component, and sends unanswered requests again.
    ///
    /// Unanswered commands count as not decided: the component's state was lost with the worker.
    func lost(_ death: PortDeath) {
        let reason = death.reason
        guard isAttached else { return failStart(because: reason) }
        container?.meters.countRestart(of: name)
        domain.logger.log(.workerEnded, logFields(["reason": "\(reason)"]))
        var unanswered = requests.takeUnanswered()
        let operations = unanswered.compactMap(\.operation)
        var failures: [(request: Request, error: HostError)] = []
        if death.wasAtRequest, let first = unanswered.first {
            first.losses += 1
            if first.losses > 1 || death.wasOverdue {
                unanswered.removeFirst()
                failures.append((first, blame(first, for: reason)))
            }
        }
        if death.wasOverdue { failures += refused(&unanswered, behind: reason) }
        asked?.disconnect(isLost: true)
        requests.putBack(unanswered)
        waits.endSlow()
        release()
        beginPause()
        // Only now: a caller may react with another call, and the component must count as absent by then.
        for (request, error) in failures { request.fail(error) }
        container?.structureChanged()
        container?.cancel(operations)
        restart(because: reason)
    }

    /// Restarts a component whose state differs from the store; no call is blamed.
    func lost(because reason: String) { lost(PortDeath(reason, wasAtRequest: false)) }

    /// Remembers a call that ended the worker.
    ///
    /// - Returns: the error for its caller.
    private func blame(_ request: Request, for reason: String) -> HostError {
        progress.blameCall()
        guard let call = request.identity else { return unavailable(reason, retryAfter: 5) }
        let now = domain.now()
        let until = now.after(domain.limits.poisonTime)
        poison.add(call, until: until, because: reason)
        domain.logger.log(
            .callBlamed, logFields(["call": "\(call.words)", "reason": "\(reason)"]))
        return poison.refusal(of: call, at: now) ?? unavailable(reason, retryAfter: 5)
    }

    /// Removes and returns requests behind a call that was not answered in time: they have waited for their whole
    /// time.
    private func refused(
        _ unanswered: inout Deque<Request>, behind reason: String
    ) -> [(request: Request, error: HostError)] {
        let error = unavailable(
            "The call waited behind one that was not answered in time, and was not made: \(reason)")
        let refused = unanswered.filter { !$0.waitsOn }.map { (request: $0, error: error) }
        unanswered.removeAll { !$0.waitsOn }
        return refused
    }

    /// The error for a call that ended the worker earlier; nil if it did not.
    func poisonRefusal(of request: Request) -> HostError? {
        // Most components never had such a call; then no identity is computed.
        guard !poison.isEmpty, let call = request.identity else { return nil }
        return poison.refusal(of: call, at: domain.now())
    }

    /// Fields of a log message about this component.
    func logFields(_ others: Logger.Metadata = [:]) -> Logger.Metadata {
        others.merging([
            "container": "\(containerName)", "component": "\(name)",
            "plugin": "\(definition.plugin)",
        ]) { $1 }
    }
}

// MARK: Waiting

extension Slot {
    /// Starts a timer that finds a call that takes long, and refuses requests that waited behind it for the whole
    /// time of a call.
    func lookAtWaiting() {
        domain.after(TimeAmount(callTime / WaitWatch.looks)) { [weak self] in
            self?.lookedAtWaiting()
        }
    }

    private func lookedAtWaiting() {
        switch state {
        case .failed, .closed: return waits.end()
        case .starting, .prepared, .attached: break
        }
        guard !isIdle || waitingCount > 0 else { return waits.end() }
        let wasSlow = waits.isSlow
        let overdue = waits.look(at: requests.present?.number, newest: domain.lastTicket)
        if let overdue, waits.isSlow || (progress.failures > 0 && !isAttached) {
            refuseWaiting(unavailable(waitReason)) { $0.number <= overdue && !$0.waitsOn }
        }
        lookAtWaiting()
        if wasSlow, !waits.isSlow { container?.pump() }
    }

    private var waitReason: String {
        let limit = "\(callTime) (\(callSetting))"
        guard let call = requests.present?.identity else {
            let cause = progress.restarts.map { ": \($0.cause)" } ?? "."
            return
                "The call waited \(limit) for the component, which is being "
                + "started again\(cause)"
        }
        return "The call waited \(limit) behind the call \(call.words), which "
            + "the plugin \(definition.plugin) has not answered yet."
    }

    /// Notes that the component has answered a call that took long.
    func endSlow() {
        waits.endSlow()
        domain.later { [weak self] in self?.container?.pump() }
    }
}

extension Request {
    /// Whether it may wait without limit: requests of the container itself, and of screens, which have one request at
    /// a time.
    fileprivate var waitsOn: Bool { passesGate || isOfScreen }
}

extension Timestamp {
    /// The time that is `time` later.
    func after(_ time: Duration) -> Timestamp {
        let (seconds, fraction) = time.components
        return Timestamp(
            milliseconds: milliseconds + seconds * 1_000 + fraction / 1_000_000_000_000_000)
    }
}
