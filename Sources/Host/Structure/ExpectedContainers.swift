/// Calls that name a container which is not there, while definitions are being applied that may make it.
final class ExpectedContainers {
    /// Whether definitions are being applied.
    private(set) var isExpecting = false
    private var waiting: [String: [() -> Void]] = [:]
    private var waitingForAll: [UInt64: () -> Void] = [:]
    private var count = 0

    /// Definitions are about to be applied, until ``end()``.
    func begin() { isExpecting = true }

    /// Keeps a call until the container is there or will not be.
    ///
    /// - Returns: Whether there was room for it.
    func wait(for container: String, atMost most: Int, _ body: @escaping () -> Void) -> Bool {
        guard count < most else { return false }
        count += 1
        waiting[container, default: []].append(body)
        return true
    }

    /// Keeps a call until all definitions were applied, or ``giveUp(_:)``.
    ///
    /// - Returns: Whether there was room for it.
    func waitForAll(_ ticket: UInt64, atMost most: Int, _ body: @escaping () -> Void) -> Bool {
        guard count < most else { return false }
        count += 1
        waitingForAll[ticket] = body
        return true
    }

    /// A call that waits for all of them waits no more; nothing if it went on already.
    func giveUp(_ ticket: UInt64) {
        guard let call = waitingForAll.removeValue(forKey: ticket) else { return }
        count -= 1
        call()
    }

    /// A container is there.
    func goOn(_ container: String) {
        guard let calls = waiting.removeValue(forKey: container) else { return }
        count -= calls.count
        for call in calls { call() }
    }

    /// All definitions were applied: what is not there now will not be.
    func end() {
        isExpecting = false
        for container in waiting.keys.sorted() { goOn(container) }
        for ticket in waitingForAll.keys.sorted() { giveUp(ticket) }
    }
}
