import NIOCore

// Verification: comparing the store with what is shown.
extension Registry {
    /// Begins to verify what the store holds and what is shown of it, while everything stays in use.
    ///
    /// It reads the records of each component and compares them with lists, tallies, counts and threads. A container
    /// with a difference is degraded until the component is restarted or verified again. Nothing is repaired.
    ///
    /// - Parameters:
    ///   - container: the container; nil: all containers, and the store's log and file.
    ///   - reply: the verification, for ``pull(_:_:)`` and in the end ``close(_:)``; fails with `containerNotFound`
    ///     or `limitExceeded`.
    public func verify(_ container: String?, _ reply: @escaping Reply<VerificationID>) {
        guard let container else {
            return verify(containers.keys.sorted(), isWhole: true, reply)
        }
        with(container, reply) { [self] _ in verify([container], isWhole: false, reply) }
    }

    private func verify(_ names: [String], isWhole: Bool, _ reply: Reply<VerificationID>) {
        guard state.verifications.isEmpty else {
            return reply(
                .failure(.limitExceeded(limit: "verifications", value: 1, retryAfter: 10)))
        }
        let verification = Verification(names, isWhole: isWhole, in: domain) { [state] in
            state.containers[$0]
        }
        reply(.success(state.verifications.add(verification)))
        domain.later { verification.run() }
    }

    /// Waits for a verification's next progress, about five times a second, or for its report, which ends it.
    ///
    /// - Parameters:
    ///   - id: the verification; wait for each reply before you ask for the next.
    ///   - reply: the progress or the report; fails with `storeUnavailable`.
    public func pull(_ id: VerificationID, _ reply: @escaping Reply<VerificationNews>) {
        guard let verification = state.verifications[id] else {
            return reply(.failure(state.verifications.reason(of: id)))
        }
        verification.pull { [state] result in
            if case .success(let news) = result, news.report == nil { return reply(result) }
            state.verifications.end(id)
            reply(result)
        }
    }

    /// Ends a verification; does nothing when it has ended.
    public func close(_ id: VerificationID) { state.verifications.end(id) }
}
