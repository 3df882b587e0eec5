import Logging
import NIOCore

/// What a slot knows of its component's source: whether its items are known, its last report, and the calls that it was
/// sent on behalf of those who use it.
final class ComponentSource {
    /// The minimum interval between requests to reload the source.
    static let pace = TimeAmount.seconds(1)
    /// The number of bytes of a problem that are kept.
    private static let problemBytes = 1_000

    private unowned let slot: Slot
    /// A sentence about what is wrong with the source; nil: nothing is.
    private(set) var problem: String?
    /// The number of screens that was last sent to the component.
    private(set) var audience = 0
    /// Whether a start waits until the component knows its items.
    private var isAwaited = false
    private var lastReload: NIODeadline?
    private var isReloadComing = false

    init(of slot: Slot) { self.slot = slot }

    /// Forgets everything, because the component is gone.
    func reset() {
        problem = nil
        audience = 0
        isAwaited = false
        lastReload = nil
        isReloadComing = false
    }

    // MARK: Its items

    /// Why the list of a source that is still loading is not shown.
    var loadingReason: String {
        "It has not loaded its items yet" + (problem.map { ": \($0)" } ?? ".")
    }

    /// Whether a start is waiting for its items, which ends after a limit.
    var isAwaitingItems: Bool { slot.isAttached && slot.own.awaitsItems && isAwaited }

    /// Makes a start wait for its items, for a limited time.
    func awaitItems() {
        guard slot.own.awaitsItems, problem == nil else { return }
        isAwaited = true
        let attempt = slot.start.attempt
        slot.domain.timers.after(TimeAmount(slot.domain.limits.startPatience)) { [weak slot] in
            guard let slot, slot.start.attempt == attempt else { return }
            slot.source.endAwaitingItems()
        }
    }

    /// Makes a start wait for its items no longer.
    func endAwaitingItems() {
        guard isAwaited else { return }
        isAwaited = false
        slot.container?.startsChanged()
    }

    /// Handles a problem that the component reports about its source; nil: there is none any more.
    func reports(_ problem: String?) {
        let slot = slot
        let problem = problem.map {
            String(decoding: $0.utf8.prefix(Self.problemBytes), as: UTF8.self)
        }
        guard problem != self.problem else { return }
        self.problem = problem
        if let problem {
            slot.domain.logger.warning(
                "a component reports a problem", metadata: slot.logFields(["reason": "\(problem)"]))
        } else {
            slot.domain.logger.notice(
                "a component's problem is resolved", metadata: slot.logFields())
        }
        slot.container?.structureChanged()
        if problem != nil { endAwaitingItems() }
    }

    // MARK: Calls

    /// Asks the component to reload its source, at most once a second.
    ///
    /// A component that is being started reloads anyway.
    func reload() {
        guard slot.isAttached, !isReloadComing else { return }
        let now = NIODeadline.now()
        let next = lastReload.map { $0 + Self.pace } ?? now
        guard next > now else { return reload(at: now) }
        isReloadComing = true
        let attempt = slot.start.attempt
        slot.domain.timers.after(next - now) { [weak slot] in
            guard let slot, slot.start.attempt == attempt, slot.isAttached else { return }
            slot.source.reload(at: .now())
        }
    }

    private func reload(at now: NIODeadline) {
        isReloadComing = false
        lastReload = now
        slot.port?.reload()
        slot.asked?.askAgain()
    }

    /// Sends the component the number of screens that show it, if that has changed.
    func reportAudience(_ screens: Int) {
        guard slot.isAttached, screens != audience else { return }
        audience = screens
        slot.port?.reportAudience(screens)
    }
}
