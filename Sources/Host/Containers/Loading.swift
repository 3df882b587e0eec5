/// The first start of a container's components, which calls wait for.
final class Loading {
    /// Whether calls wait for the first start of the components.
    private(set) var isUnderWay = false
    private unowned let container: Container
    private var permits = WaitPermits()
    private var waiting: [() -> Void] = []

    init(of container: Container) { self.container = container }

    /// Makes calls wait from now on, until ``run()`` has started the components.
    func begin() { isUnderWay = true }

    /// Starts all components.
    func run() {
        for slot in container.slots { slot.start.run {} }
        endIfDone()
    }

    /// Calls back once no component is worth waiting for: each is attached, has failed or is stalled.
    func whenOver(_ body: @escaping () -> Void) {
        if isUnderWay { waiting.append(body) } else { body() }
    }

    /// Makes a user's call wait as ``whenOver(_:)`` does; refuses it if too many are waiting.
    func whenOver<T>(
        of user: String, _ reply: @escaping Answer<T>, _ body: @escaping () -> Void
    ) {
        do throws(WaitPermits.Full) {
            let permit = try permits.acquire(for: user, of: container.domain.limits.waitingCalls)
            whenOver { withExtendedLifetime(permit, body) }
        } catch {
            let pending = container.slots.first(where: \.start.isWorthWaitingFor)?.name
            reply(
                .failure(
                    .componentUnavailable(
                        component: pending ?? container.name,
                        reason: "It is being started. \(error.reason)", retryAfter: 0.5)))
        }
    }

    /// Ends the wait if no component is worth waiting for any more.
    func endIfDone() {
        guard isUnderWay,
            !container.slots.contains(where: {
                $0.start.isWorthWaitingFor || $0.source.isAwaitingItems
            })
        else { return }
        let callbacks = waiting
        (isUnderWay, waiting, permits) = (false, [], WaitPermits())
        // The callbacks use the components that are attached by now.
        for body in callbacks { body() }
    }
}
