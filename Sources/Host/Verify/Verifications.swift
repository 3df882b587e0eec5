/// Verifications, which compare the store with what is shown.
///
/// Each reads the whole store, so only one may run at a time.
public final class Verifications {
    private let domain: Domain
    private let containers: () -> [String: Container]
    private var present: (id: VerificationID, verification: Verification)?
    /// The error that stopped the last verification that was not finished.
    private var ended: (id: VerificationID, error: HostError)?
    private var last: UInt64 = 0

    /// Creates a table without a verification; `containers` returns all containers by name.
    init(in domain: Domain, containers: @escaping () -> [String: Container]) {
        (self.domain, self.containers) = (domain, containers)
    }

    /// Begins to verify what the store holds and what is shown of it, while everything stays in use.
    ///
    /// It reads the records of each component and compares them with lists, tallies, counts and threads. A container
    /// with a difference is degraded until the component is restarted or verified again. Nothing is repaired.
    ///
    /// - Parameter container: the container; nil: all containers, and the store's log and file.
    /// - Returns: the verification, for ``pull(_:_:)`` and in the end ``close(_:)``.
    /// - Throws: `limitExceeded`.
    public func begin(of container: Container?) throws(HostError) -> VerificationID {
        guard present == nil else {
            throw .limitExceeded(limit: "verifications", value: 1, retryAfter: 10)
        }
        let names = container.map { [$0.name] } ?? containers().keys.sorted()
        let verification = Verification(names, isWhole: container == nil, in: domain) {
            [containers] in containers()[$0]
        }
        last += 1
        let id = VerificationID(number: last)
        present = (id, verification)
        domain.timers.later { verification.run() }
        return id
    }

    /// Waits for a verification's next progress, about five times a second, or for its report, which ends it.
    ///
    /// Wait for each reply before you ask for the next; it fails with `storeUnavailable`.
    public func pull(_ id: VerificationID, _ reply: @escaping Reply<VerificationNews>) {
        guard let present, present.id == id else {
            return reply(
                .failure(
                    ended.flatMap { $0.id == id ? $0.error : nil }
                        ?? .storeUnavailable(
                            reason: "The verification has ended.", retryAfter: 1)))
        }
        present.verification.pull { [self] result in
            if case .success(let news) = result, news.report == nil { return reply(result) }
            close(id)
            reply(result)
        }
    }

    /// Ends a verification; does nothing when it has ended.
    public func close(_ id: VerificationID) {
        guard let present, present.id == id else { return }
        present.verification.end()
        self.present = nil
    }

    /// Ends the running verification with an error, which its caller receives.
    func end(because error: HostError) {
        guard let (id, verification) = present else { return }
        present = nil
        ended = (id, error)
        verification.end(because: error)
    }
}
