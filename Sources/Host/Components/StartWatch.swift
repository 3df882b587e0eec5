import LogMessages
import Logging
import NIOCore
import PluginLoader

/// Notices when a component's start waits for the component and that shows no progress.
///
/// One timer while there is something to wait for, however many answers that takes.
struct StartWatch {
    /// Grows with each question and each answer.
    fileprivate var progress: UInt64 = 0
    /// Whether the start waits for the component.
    fileprivate var isWaiting = false
    fileprivate var isTimed = false
}

extension Slot {
    /// Whether calls wait for its start.
    var isWorthWaitingFor: Bool {
        switch state {
        case .starting, .prepared: stall == nil
        case .attached, .failed, .closed: false
        }
    }

    /// The start waits for the component from now on.
    func awaitComponent() {
        // One in the daemon answers during the call.
        guard isolation == .process else { return }
        watch.isWaiting = true
        watch.progress += 1
        guard !watch.isTimed else { return }
        watch.isTimed = true
        lookAtStart()
    }

    /// The component has answered, or nobody waits for it any more.
    func endAwaiting() {
        watch.isWaiting = false
        watch.progress += 1
    }

    private func lookAtStart() {
        let seen = watch.progress
        domain.after(TimeAmount(domain.limits.startPatience)) { [weak self] in
            guard let self else { return }
            guard watch.isWaiting, watch.progress == seen else {
                watch.isTimed = watch.isWaiting
                if watch.isWaiting { lookAtStart() }
                return
            }
            watch.isTimed = false
            standStill()
        }
    }

    /// Calls wait no longer; the component may still come to life.
    private func standStill() {
        turn?.end()
        turn = nil
        guard stall == nil, let container else { return }
        let reason =
            "Its plugin \(definition.plugin) has not answered for \(domain.limits.startPatience) "
            + "while it is being started. It is taken in once it answers; look for it in the log, "
            + "or detach it with 'atriumctl detach \(container.name) \(name)'."
        domain.steps += 1
        domain.logger.tell(.componentStalled, logFields(["reason": "\(reason)"]))
        refuseToWait(reason)
        container.structureChanged()
        container.startsChanged()
        let startStalled = startStalled
        self.startStalled = nil
        startStalled?()
    }

    /// Refuses the calls that wait for the start, and those to come; unless it is over.
    func refuseToWait(_ reason: String) {
        guard isWorthWaitingFor else { return }
        stall = reason
        refuseWaiting(unavailable(reason, retryAfter: 5))
    }

    /// The component is there.
    func noteStarted() {
        guard stall != nil else { return }
        stall = nil
        domain.logger.tell(.componentRevived, logFields())
    }
}
