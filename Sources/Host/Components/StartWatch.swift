import LogMessages
import Logging
import NIOCore
import PluginLoader

/// Refuses the calls that wait for a component's start, once the component has not answered for
/// `limits.startPatience`.
///
/// The component may still answer and be attached. A single timer finds out, however many questions and answers there
/// are.
final class StartWatch {
    private unowned let slot: Slot
    /// The reason for refusing calls while the start is stalled; nil: it is not.
    private(set) var stall: String?
    /// Called when the start stalls; it may still succeed afterwards.
    private var stalled: (() -> Void)?
    /// The count of questions and answers, by which the timer finds whether there was one.
    private var progress: UInt64 = 0
    /// Whether the start waits for the component.
    private var isWaiting = false
    private var isTimed = false

    init(of slot: Slot) { self.slot = slot }

    /// Sets the callback for a stall; nil removes it.
    func onStall(_ body: (() -> Void)?) { stalled = body }

    /// Records that the start waits for an answer of the component from now on.
    func awaitAnswer() {
        // A component in the daemon answers synchronously.
        guard slot.isolation == .process else { return }
        isWaiting = true
        progress += 1
        if !isTimed { checkLater() }
        isTimed = true
    }

    /// Records that the component has answered, or that the answer is not needed any more.
    func endAwaiting() {
        isWaiting = false
        progress += 1
    }

    private func checkLater() {
        let (domain, seen) = (slot.domain, progress)
        domain.timers.after(TimeAmount(domain.limits.startPatience)) { [weak slot] in
            slot?.start.watch.check(since: seen)
        }
    }

    private func check(since seen: UInt64) {
        guard isWaiting, progress == seen else {
            isTimed = isWaiting
            return isWaiting ? checkLater() : ()
        }
        isTimed = false
        refuseStalled()
    }

    /// Refuses calls from now on; the component may still answer and be attached.
    private func refuseStalled() {
        let (slot, domain) = (slot, slot.domain)
        slot.start.endTurn()
        guard stall == nil, let container = slot.container else { return }
        var reason =
            "Its plugin \(slot.definition.plugin) has not answered for "
            + "\(domain.limits.startPatience) while it is being started."
        // One that was to replace another is not taken in later, and whoever detaches that name loses the other.
        if container.slot(slot.name).map({ $0 === slot }) ?? true {
            reason +=
                " It is taken in once it answers; look for it in the log, "
                + "or detach it with 'atriumctl detach \(slot.containerName) \(slot.name)'."
        }
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
        guard slot.start.isWorthWaitingFor else { return }
        stall = reason
        slot.requests.refuseAll(of: slot, slot.stalled(reason))
    }

    /// Refuses calls from now on, without any that wait.
    func refuseLater(_ reason: String) { stall = reason }

    /// Lets calls wait again; returns whether they were refused.
    func endStall() -> Bool {
        defer { stall = nil }
        return stall != nil
    }
}
