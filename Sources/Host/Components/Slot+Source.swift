import AtriumKit
import Logging
import NIOCore

/// The state of a component's source: its last report, and the calls it was sent on behalf of those who use it.
struct SourceState {
    /// The minimum interval between requests to reload the source, and between reports of the audience.
    static let pace = TimeAmount.seconds(1)
    /// The number of bytes of a problem that are kept.
    static let problemBytes = 1_000

    /// A sentence about what is wrong with the source; nil: nothing is.
    var problem: String?
    /// The number of screens that was last sent to the component.
    var audience = 0
    /// Whether a start waits until the component knows its items.
    var isAwaited = false

    private var lastReload: NIODeadline?
    private var isReloadComing = false

    /// Schedules a reload.
    ///
    /// - Returns: the delay until it; nil if one is scheduled already.
    mutating func reload(at now: NIODeadline) -> TimeAmount? {
        guard !isReloadComing else { return nil }
        let next = lastReload.map { $0 + Self.pace } ?? now
        isReloadComing = next > now
        if !isReloadComing { lastReload = now }
        return max(next - now, .zero)
    }

    /// Records that the reload that ``reload(at:)`` scheduled begins.
    mutating func reloads(at now: NIODeadline) {
        isReloadComing = false
        lastReload = now
    }
}

extension Slot {
    /// Whether its source's items are unknown, and were so before the component was lost.
    var awaitsItems: Bool { own.contents.map { !$0.isKnown } ?? false }

    /// Why the list of a source that is still loading is not shown.
    var loadingReason: String {
        "It has not loaded its items yet" + (source.problem.map { ": \($0)" } ?? ".")
    }

    /// Whether a start is waiting for its items, which ends after a limit.
    var isAwaitingItems: Bool { isAttached && awaitsItems && source.isAwaited }

    /// Makes a start wait for its items, for a limited time.
    func awaitItems() {
        guard awaitsItems, source.problem == nil else { return }
        source.isAwaited = true
        let attempt = start.attempt
        domain.timers.after(TimeAmount(domain.limits.startPatience)) { [weak self] in
            guard let self, start.attempt == attempt else { return }
            endAwaitingItems()
        }
    }

    /// Makes a start wait for its items no longer.
    func endAwaitingItems() {
        guard source.isAwaited else { return }
        source.isAwaited = false
        container?.startsChanged()
    }

    /// Handles a problem that the component reports about its source; nil: there is none any more.
    func reports(_ problem: String?) {
        let problem = problem.map {
            String(decoding: $0.utf8.prefix(SourceState.problemBytes), as: UTF8.self)
        }
        guard problem != source.problem else { return }
        source.problem = problem
        if let problem {
            domain.logger.warning(
                "a component reports a problem", metadata: logFields(["reason": "\(problem)"]))
        } else {
            domain.logger.notice(
                "a component's problem is resolved", metadata: logFields())
        }
        container?.structureChanged()
        if problem != nil { endAwaitingItems() }
    }

    /// Asks the component to reload its source, at most once a second.
    ///
    /// A component that is being started reloads anyway.
    func reload() {
        guard isAttached, let delay = source.reload(at: .now()) else { return }
        guard delay > .zero else { return reloadNow() }
        let attempt = start.attempt
        domain.timers.after(delay) { [weak self] in
            guard let self, start.attempt == attempt, isAttached else { return }
            source.reloads(at: .now())
            reloadNow()
        }
    }

    private func reloadNow() {
        port?.reload()
        asked?.askAgain()
    }

    /// Sends the component the number of screens that show it, if that has changed.
    func reportAudience(_ screens: Int) {
        guard isAttached, screens != source.audience else { return }
        source.audience = screens
        port?.reportAudience(screens)
    }
}
