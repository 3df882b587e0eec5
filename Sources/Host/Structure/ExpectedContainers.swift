/// Calls that name a container which is not there, while definitions are being applied that may make it.
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

    /// Definitions are about to be applied, until ``end()``.
    func begin() { isExpecting = true }

    /// Keeps a user's call until the container is there or will not be.
    ///
    /// - Throws: where too many wait.
    func wait(
        for container: String, of user: String, atMost most: Int, _ body: @escaping () -> Void
    ) throws(WaitingPlaces.Full) {
        let place = try places.take(for: user, of: most)
        waiting[container, default: []].append(Call(place: place, goOn: body))
    }

    /// Keeps a user's call until all definitions were applied, or ``giveUp(_:)``.
    ///
    /// - Throws: where too many wait.
    func waitForAll(
        _ ticket: UInt64, of user: String, atMost most: Int, _ body: @escaping () -> Void
    ) throws(WaitingPlaces.Full) {
        let place = try places.take(for: user, of: most)
        waitingForAll[ticket] = Call(place: place, goOn: body)
    }

    /// A call that waits for all of them waits no more; nothing if it went on already.
    func giveUp(_ ticket: UInt64) {
        waitingForAll.removeValue(forKey: ticket)?.goOn()
    }

    /// A container is there.
    func goOn(_ container: String) {
        guard let calls = waiting.removeValue(forKey: container) else { return }
        for call in calls { call.goOn() }
    }

    /// All definitions were applied: what is not there now will not be.
    func end() {
        isExpecting = false
        for container in waiting.keys.sorted() { goOn(container) }
        for ticket in waitingForAll.keys.sorted() { giveUp(ticket) }
    }
}
