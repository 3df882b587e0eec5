/// The first start of a container's components, which calls wait for.
struct Loading {
    /// Whether the components are being started for the first time.
    private(set) var isUnderWay = false
    /// The places of calls that wait for its end.
    let places = WaitingPlaces()
    private var waiting: [() -> Void] = []

    mutating func begin() { isUnderWay = true }

    mutating func wait(_ body: @escaping () -> Void) { waiting.append(body) }

    /// Ends it.
    ///
    /// - Returns: the callbacks that waited.
    mutating func end() -> [() -> Void] {
        defer { self = Loading() }
        return waiting
    }
}

extension Container {
    /// Whether calls wait for the first start of the components.
    var isLoading: Bool { loading.isUnderWay }

    /// Starts all components.
    func load() {
        for slot in slots { slot.startUntilAttached {} }
        startsChanged()
    }

    /// Calls back once no component is worth waiting for: each is attached, has failed or is stalled.
    func whenLoaded(_ body: @escaping () -> Void) {
        guard isLoading else { return body() }
        loading.wait(body)
    }

    /// Makes a user's call wait as ``whenLoaded(_:)`` does; refuses it if too many are waiting.
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

    /// Ends the wait if no component is worth waiting for any more.
    func startsChanged() {
        guard isLoading, !slots.contains(where: { $0.isWorthWaitingFor || $0.isAwaitingItems })
        else { return }
        // The callbacks use the components that are attached by now.
        for body in loading.end() { body() }
    }
}
