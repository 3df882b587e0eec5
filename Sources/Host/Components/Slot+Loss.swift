import AtriumKit
import DequeModule
import LogMessages
import Logging
import NIOCore

// The component's worker ends, or is at one call for long.
//
// The call that a worker was at is known, since a worker answers one call before it begins the next. It
// is made once more, for a worker may end for other reasons; when it ends a worker again, or was
// not answered in time, it is to blame: it is refused by name from then on, and the component is well.
extension Slot {
    /// The worker was lost: start again, and send what was unanswered once more.
    ///
    /// Whatever of it was decided counts as not decided: the component's state is gone with it.
    func lost(_ death: PortDeath) {
        let reason = death.reason
        guard isAttached else { return failStart(because: reason) }
        container?.meters.countRestart(of: name)
        domain.logger.tell(.workerEnded, logFields(["reason": "\(reason)"]))
        var unanswered = takeUnanswered()
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
        putBack(unanswered)
        waits.endSlow()
        release()
        beginPause()
        // Only now: a failed caller may call the component at once, which must count as away by then.
        for (request, error) in failures { request.fail(error) }
        container?.structureChanged()
        container?.cancel(operations)
        restart(because: reason)
    }

    /// The component is not what the store says: start again, with no call to blame.
    func lost(because reason: String) { lost(PortDeath(reason, wasAtRequest: false)) }

    /// Remembers a call that ended the worker.
    ///
    /// - Returns: the error that its caller gets.
    private func blame(_ request: Request, for reason: String) -> HostError {
        progress.blameCall()
        guard let call = request.identity else { return unavailable(reason, retryAfter: 5) }
        let now = domain.now()
        let until = now.after(domain.limits.poisonTime)
        poison.add(call, until: until, because: reason)
        domain.logger.tell(
            .callBlamed, logFields(["call": "\(call.words)", "reason": "\(reason)"]))
        return poison.refusal(of: call, at: now) ?? unavailable(reason, retryAfter: 5)
    }

    /// Takes out what waited behind a call that was not answered in time: it has waited as long as it may.
    private func refused(
        _ unanswered: inout Deque<Request>, behind reason: String
    ) -> [(request: Request, error: HostError)] {
        let error = unavailable(
            "The call waited behind one that was not answered in time, and was not made: \(reason)")
        let refused = unanswered.filter { !$0.waitsOn }.map { (request: $0, error: error) }
        unanswered.removeAll { !$0.waitsOn }
        return refused
    }

    /// Why a call is refused that ended the worker before; nil: it did not.
    func poisonRefusal(of request: Request) -> HostError? {
        // Most components never had such a call: no identity is made then.
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
    /// Looks after a while whether the component is at the same call still, and refuses what has waited
    /// behind it for as long as a call may take.
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
        let overdue = waits.look(at: present?.number, newest: domain.lastTicket)
        if let overdue, waits.isSlow || (progress.failures > 0 && !isAttached) {
            refuseWaiting(unavailable(waitReason)) { $0.number <= overdue && !$0.waitsOn }
        }
        lookAtWaiting()
        if wasSlow, !waits.isSlow { pump() }
    }

    private var waitReason: String {
        let limit = "\(callTime) (\(callSetting))"
        guard let call = present?.identity else {
            let cause = progress.restarts.map { ": \($0.cause)" } ?? "."
            return
                "The call waited \(limit) for the component, which is being "
                + "started again\(cause)"
        }
        return "The call waited \(limit) behind the call \(call.words), which "
            + "the plugin \(definition.plugin) has not answered yet."
    }

    /// The component has answered what it was at for long.
    func endSlow() {
        waits.endSlow()
        domain.later { [weak self] in self?.pump() }
    }
}

extension Request {
    /// Whether it is not refused because it has waited: the work of the container or of a screen, which
    /// asks one at a time.
    fileprivate var waitsOn: Bool { passesGate || isOfScreen }
}

extension Timestamp {
    /// The time after a while.
    func after(_ time: Duration) -> Timestamp {
        let (seconds, fraction) = time.components
        return Timestamp(
            milliseconds: milliseconds + seconds * 1_000 + fraction / 1_000_000_000_000_000)
    }
}
