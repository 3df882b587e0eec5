import NIOCore

// The store compared with what is shown.
extension Registry {
    /// Begins to verify what the store holds, and what is shown of it, while everything goes on.
    ///
    /// Read are the records of each component, compared with lists, tallies, counts and threads. What is
    /// found degrades its container, until the component is started anew or verified again. Nothing is
    /// mended.
    ///
    /// - Parameters:
    ///   - container: which one; nil: all of them, and the store's log and file.
    ///   - reply: what to call ``pull(_:_:)`` with, and ``close(_:)`` in the end; fails with
    ///     `containerNotFound` or `limitExceeded`.
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

    /// How far a verification is, about five times a second; what it found once it is through, which ends it.
    ///
    /// - Parameters:
    ///   - id: the verification; ask one at a time.
    ///   - reply: the news; fails with `storeUnavailable`.
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

    /// Ends a verification; one that has ended is passed over.
    public func close(_ id: VerificationID) { state.verifications.end(id) }
}
