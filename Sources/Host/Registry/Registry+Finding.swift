import NIOCore

// Finding the container that a call names.
extension Registry {
    /// The container of a name if calls can use it now, without waiting.
    ///
    /// - Parameter name: its name.
    /// - Returns: the container; nil when it does not exist or is being loaded. ``find(_:of:_:)`` distinguishes
    ///   these.
    public func container(_ name: String) -> Container? {
        guard let container = containers[name], !container.loading.isUnderWay else { return nil }
        return container
    }

    /// Finds the container that a call names, and waits for it if it is being loaded.
    ///
    /// - Parameters:
    ///   - name: the container's name.
    ///   - user: whose call it is; the number of calls that wait is limited for each user.
    ///   - reply: called at once, or once the container's components are started or the definitions that may create
    ///     it are applied. Fails with `containerNotFound`, or with `componentUnavailable` or `storeUnavailable` when
    ///     too many calls are waiting already.
    public func find(
        _ name: String, of user: String = "", _ reply: @escaping Answer<Container>
    ) {
        guard let container = containers[name] else { return expect(name, of: user, reply) }
        guard container.loading.isUnderWay else { return reply(.success(container)) }
        // Looks the name up again: the container may have been replaced or deleted meanwhile.
        container.loading.whenOver(of: user, reply) { [self] in find(name, of: user, reply) }
    }

    /// Waits for a container that may be created by the definitions that are being applied.
    private func expect(_ name: String, of user: String, _ reply: @escaping Answer<Container>) {
        guard expected.isExpecting else {
            return reply(.failure(.containerNotFound(name)))
        }
        do throws(WaitPermits.Full) {
            try expected.wait(for: name, of: user) { [self] in find(name, of: user, reply) }
        } catch {
            reply(
                .failure(
                    .storeUnavailable(
                        reason: "Definitions are being applied. \(error.reason)",
                        retryAfter: 0.5)))
        }
    }

    /// Finds a container, and passes a failure to the caller's reply.
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

    /// Counts a write, and refuses it if the caller wrote too much in the last minute.
    ///
    /// Called once for each call that writes, before anything else.
    ///
    /// - Parameters:
    ///   - bytes: the size of the call.
    ///   - caller: on whose behalf.
    /// - Returns: `limitExceeded` if the write is refused: with the time to try again, or without one if it is a
    ///   front end's new person beyond the limit of persons; nil: the write may proceed.
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
