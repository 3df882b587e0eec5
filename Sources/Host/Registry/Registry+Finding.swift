import NIOCore

// How a call reaches a container.
extension Registry {
    /// The container of a name, where calls need not wait for it: at once, from memory.
    ///
    /// - Parameter name: its name.
    /// - Returns: the container; nil: it is not there, or is being loaded, and ``find(_:of:_:)`` knows more.
    public func container(_ name: String) -> Container? {
        guard let container = containers[name], !container.isLoading else { return nil }
        return container
    }

    /// Finds the container that a call names.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - user: whose call it is: users share the places of calls that wait.
    ///   - reply: called at once, or once its components have been started, or definitions that may make it
    ///     have been applied; fails with `containerNotFound`, or with `componentUnavailable` or
    ///     `storeUnavailable` where too many calls wait for that already.
    public func find(
        _ name: String, of user: String = "", _ reply: @escaping Answer<Container>
    ) {
        guard let container = containers[name] else { return expect(name, of: user, reply) }
        guard container.isLoading else { return reply(.success(container)) }
        // By name: it may be another one by then, or gone.
        container.whenLoaded(of: user, reply) { [self] in find(name, of: user, reply) }
    }

    /// Waits for a container that definitions may make which are being applied.
    private func expect(_ name: String, of user: String, _ reply: @escaping Answer<Container>) {
        guard state.expected.isExpecting else {
            return reply(.failure(.containerNotFound(name)))
        }
        do throws(WaitingPlaces.Full) {
            try state.expected.wait(for: name, of: user, atMost: domain.limits.waitingCalls) {
                [self] in find(name, of: user, reply)
            }
        } catch {
            reply(
                .failure(
                    .storeUnavailable(
                        reason: "Definitions are being applied. \(error.reason)",
                        retryAfter: 0.5)))
        }
    }

    /// Finds a container for a call with a reply of its own.
    func with<T>(
        _ name: String, of user: String = "", _ reply: @escaping Reply<T>,
        _ body: @escaping (Container) -> Void
    ) {
        find(name, of: user) { found in
            switch found {
            case .success(let container): body(container)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    /// Counts a write of somebody who may write only so much in a minute.
    ///
    /// Asked once for each call that writes, before it does anything else.
    ///
    /// - Parameters:
    ///   - bytes: what its call has.
    ///   - caller: on whose behalf.
    /// - Returns: `limitExceeded`, with when to try again, or for a new person of a front end's that has all that
    ///   it may have; nil: it may be done.
    public func refusal(ofWriting bytes: Int, by caller: Caller) -> HostError? {
        guard caller.pace != .free else { return nil }
        let most = domain.limits.frontendPeople
        if domain.actors.number(of: caller.actor) == nil,
            domain.actors.count(likeThatOf: caller.actor) >= most
        {
            return .limitExceeded(limit: "frontendPeople", value: most, retryAfter: nil)
        }
        return state.rates.refusal(
            ofWriting: bytes, by: caller, domain.limits, at: NIODeadline.now())
    }
}
