import AtriumKit
import Logging
import NIOCore

/// What a component says of its source, and what it was told about who wants something from that.
struct SourceState {
    /// A component is asked to look at its source again, and told how many screens show it, so often at most.
    static let pace = TimeAmount.seconds(1)
    /// Bytes of a problem that are kept.
    static let problemBytes = 1_000

    /// What is wrong with the source, as a sentence; nil: nothing.
    var problem: String?
    /// How many screens the component was told show it.
    var audience = 0
    /// Whether a start waits until the component knows its items.
    var isAwaited = false

    private var lastReload: NIODeadline?
    private var isReloadComing = false

    /// The component is to look again.
    ///
    /// - Returns: after which time; nil: it is to already.
    mutating func reload(at now: NIODeadline) -> TimeAmount? {
        guard !isReloadComing else { return nil }
        let next = lastReload.map { $0 + Self.pace } ?? now
        isReloadComing = next > now
        if !isReloadComing { lastReload = now }
        return max(next - now, .zero)
    }

    /// The time has come that ``reload(at:)`` gave.
    mutating func reloads(at now: NIODeadline) {
        isReloadComing = false
        lastReload = now
    }
}

extension Slot {
    /// Whether it is not known what items its source has, now or before it was lost.
    var awaitsItems: Bool { own.contents.map { !$0.isKnown } ?? false }

    /// Why a list is not shown whose source is loading.
    var loadingReason: String { "It has not loaded its items yet." }

    /// Whether a start waits for its items, for which there is a limit.
    var isAwaitingItems: Bool { isAttached && awaitsItems && source.isAwaited }

    /// Has a start wait for its items for a while.
    func awaitItems() {
        guard awaitsItems, source.problem == nil else { return }
        source.isAwaited = true
        let attempt = start
        domain.after(TimeAmount(domain.limits.startPatience)) { [weak self] in
            guard let self, start == attempt else { return }
            endAwaitingItems()
        }
    }

    /// Lets a start wait for its items no longer.
    func endAwaitingItems() {
        guard source.isAwaited else { return }
        source.isAwaited = false
        container?.startsChanged()
    }

    /// Its component says what is wrong with its source; nil: nothing is.
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
                "what a component reported is no problem any more", metadata: logFields())
        }
        container?.structureChanged()
        if problem != nil { endAwaitingItems() }
    }

    /// Has its component look at its source again, at most once a second; one that is being started does so
    /// anyway.
    func reload() {
        guard isAttached, let delay = source.reload(at: .now()) else { return }
        guard delay > .zero else { return reloadNow() }
        let attempt = start
        domain.after(delay) { [weak self] in
            guard let self, start == attempt, isAttached else { return }
            source.reloads(at: .now())
            reloadNow()
        }
    }

    private func reloadNow() {
        port?.reload()
        asked?.askAgain()
    }

    /// A source that is asked has answered: it is well.
    func noteAnswer() { progress.forgetFailures() }

    /// Tells its component how many screens show it.
    func tellAudience(_ screens: Int) {
        guard isAttached, screens != source.audience else { return }
        source.audience = screens
        port?.tellAudience(screens)
    }
}
