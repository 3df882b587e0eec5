/// The first start of a container's components, which calls wait for.
struct Loading {
    /// Whether the container is as the store holds it, and its components are being started.
    private(set) var isUnderWay = false
    /// The places of calls among those that wait for its end.
    let places = WaitingPlaces()
    private var waiting: [() -> Void] = []

    mutating func begin() { isUnderWay = true }

    mutating func wait(_ body: @escaping () -> Void) { waiting.append(body) }

    /// It is over.
    ///
    /// - Returns: who has waited.
    mutating func end() -> [() -> Void] {
        defer { self = Loading() }
        return waiting
    }
}

extension Container {
    /// Whether it is as the store holds it, and calls wait for its components' first start.
    var isLoading: Bool { loading.isUnderWay }

    /// Starts all components.
    func load() {
        for slot in slots { slot.startUntilAttached {} }
        startsChanged()
    }

    /// Goes on once no component is worth waiting for: each is attached, has failed, or its start
    /// shows no progress.
    func whenLoaded(_ body: @escaping () -> Void) {
        guard isLoading else { return body() }
        loading.wait(body)
    }

    /// Has a user's call wait as ``whenLoaded(_:)`` does; refused where too many do.
    func whenLoaded<T>(
        of user: String, _ reply: @escaping Answer<T>, _ body: @escaping () -> Void
    ) {
        do throws(WaitingPlaces.Full) {
            let place = try loading.places.take(for: user, of: domain.limits.waitingCalls)
            whenLoaded { withExtendedLifetime(place, body) }
        } catch {
            let pending = slots.first(where: \.isWorthWaitingFor)?.name ?? name
            reply(
                .failure(
                    .componentUnavailable(
                        component: pending, reason: "It is being started. \(error.reason)",
                        retryAfter: 0.5)))
        }
    }

    /// A component's start has come to an end, or to a standstill.
    func startsChanged() {
        guard isLoading, !slots.contains(where: { $0.isWorthWaitingFor || $0.isAwaitingItems })
        else { return }
        // Whatever is there by now.
        for body in loading.end() { body() }
    }
}
