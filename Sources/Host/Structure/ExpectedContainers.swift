/// Calls that name an unknown container, while definitions are being applied that may create it.
final class ExpectedContainers {
    /// Whether definitions are being applied.
    private(set) var isExpecting = false
    private var waiting: [String: [Call]] = [:]
    private var waitingForAll: [UInt64: Call] = [:]
    private let places = WaitingPlaces()

    /// A call that waits.
    private struct Call {
        let place: WaitingPlaces.Place
        let goOn: () -> Void
    }

    /// Notes that definitions are being applied, until ``end()``.
    func begin() { isExpecting = true }

    /// Keeps a user's call until the container exists, or all definitions are applied.
    ///
    /// - Throws: if too many calls are waiting.
    func wait(
        for container: String, of user: String, atMost most: Int, _ body: @escaping () -> Void
    ) throws(WaitingPlaces.Full) {
        let place = try places.take(for: user, of: most)
        waiting[container, default: []].append(Call(place: place, goOn: body))
    }

    /// Keeps a user's call until all definitions are applied, or ``giveUp(_:)`` is called.
    ///
    /// - Throws: if too many calls are waiting.
    func waitForAll(
        _ ticket: UInt64, of user: String, atMost most: Int, _ body: @escaping () -> Void
    ) throws(WaitingPlaces.Full) {
        let place = try places.take(for: user, of: most)
        waitingForAll[ticket] = Call(place: place, goOn: body)
    }

    /// Runs a call that waits for all definitions now; does nothing if it has run already.
    func giveUp(_ ticket: UInt64) {
        waitingForAll.removeValue(forKey: ticket)?.goOn()
    }

    /// Runs the calls that wait for a container, which exists now.
    func goOn(_ container: String) {
        guard let calls = waiting.removeValue(forKey: container) else { return }
        for call in calls { call.goOn() }
    }

    /// Runs all calls: the definitions were applied, and no more containers are expected.
    func end() {
        isExpecting = false
        for container in waiting.keys.sorted() { goOn(container) }
        for ticket in waitingForAll.keys.sorted() { giveUp(ticket) }
    }
}
