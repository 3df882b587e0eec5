import NIOCore

/// Calls that need containers, while definitions are being applied that may create them.
public final class ExpectedContainers {
    private let domain: Domain
    /// Whether definitions are being applied.
    private(set) var isExpecting = false
    private var waiting: [String: [Call]] = [:]
    private var waitingForAll: [UInt64: Call] = [:]
    private let permits = WaitPermits()

    /// A call that waits.
    private struct Call {
        let permit: WaitPermits.Permit
        let resume: () -> Void
    }

    init(in domain: Domain) { self.domain = domain }

    /// Makes calls that name an unknown container wait until ``end()``.
    ///
    /// To be called before definitions are applied.
    public func begin() { isExpecting = true }

    /// Keeps a user's call until the container exists, or all definitions are applied; throws if too many calls are
    /// waiting.
    func wait(
        for container: String, of user: String, _ body: @escaping () -> Void
    ) throws(WaitPermits.Full) {
        let permit = try permits.acquire(for: user, of: domain.limits.waitingCalls)
        waiting[container, default: []].append(Call(permit: permit, resume: body))
    }

    /// Calls back once all definitions are applied, or 5 s have passed; at once while none are being applied, or when
    /// too many calls of the user are waiting already.
    public func whenOver(of user: String, _ body: @escaping () -> Void) {
        guard isExpecting,
            let permit = try? permits.acquire(for: user, of: domain.limits.waitingCalls)
        else { return body() }
        let ticket = domain.nextTicket()
        waitingForAll[ticket] = Call(permit: permit, resume: body)
        domain.timers.after(.seconds(5)) { [self] in run(ticket) }
    }

    /// Runs a call that waits for all definitions now; does nothing if it has run already.
    private func run(_ ticket: UInt64) {
        waitingForAll.removeValue(forKey: ticket)?.resume()
    }

    /// Runs the calls that wait for a container, which exists now.
    func resume(_ container: String) {
        guard let calls = waiting.removeValue(forKey: container) else { return }
        for call in calls { call.resume() }
    }

    /// Runs all calls: the definitions were applied, or have failed, and no more containers are expected.
    public func end() {
        isExpecting = false
        for container in waiting.keys.sorted() { resume(container) }
        for ticket in waitingForAll.keys.sorted() { run(ticket) }
    }
}
