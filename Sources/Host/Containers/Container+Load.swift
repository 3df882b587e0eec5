import AtriumKit

// The first start of all components, at the start of the daemon.
extension Container {
    /// Starts all components.
    func load() {
        for slot in slots { slot.startUntilAttached {} }
        startsChanged()
    }

    /// Goes on once no component is worth waiting for: each is attached, has failed, or its start
    /// shows no progress.
    func whenLoaded(_ body: @escaping () -> Void) {
        guard isLoading else { return body() }
        waitingForLoad.append(body)
    }

    /// Has a call wait as ``whenLoaded(_:)`` does; refused where too many do.
    func whenLoaded<T>(_ reply: @escaping Answer<T>, _ body: @escaping () -> Void) {
        guard waitingForLoad.count < domain.limits.waitingCalls else {
            let pending = slots.first(where: \.isWorthWaitingFor)?.name ?? name
            return reply(
                .failure(
                    .componentUnavailable(
                        component: pending,
                        reason: "It is being started, and \(waitingForLoad.count) calls wait for "
                            + "\(name) already.",
                        retryAfter: 0.5)))
        }
        whenLoaded(body)
    }

    /// A component's start has come to an end, or to a standstill.
    func startsChanged() {
        guard isLoading, !slots.contains(where: \.isWorthWaitingFor) else { return }
        endLoading()
    }

    /// Lets all go on who wait, whatever is there by now.
    func endLoading() {
        isLoading = false
        let waiting = waitingForLoad
        waitingForLoad = []
        for body in waiting { body() }
    }

    /// Whether nothing that was accepted is unfinished.
    var isQuiet: Bool {
        lane.isEmpty && erasures == 0 && rewirings == 0 && screens?.isIdle ?? true
            && slots.allSatisfy { $0.isIdle && ($0.waitingCount == 0 || !$0.isAttached) }
    }
}
