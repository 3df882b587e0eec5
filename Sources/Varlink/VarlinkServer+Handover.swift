internal import Glibc
public import JSONCodec
internal import LogMessages
internal import Logging
internal import NIOCore
internal import NIOPosix

/// # Restarting without dropping anyone
///
/// A server that is about to be replaced by another process can hand its connections over, so that its
/// clients notice nothing:
///
/// ```swift
/// await server.pause(within: .seconds(10))           // calls under way are answered
/// let kept = await server.release(within: .seconds(2)) // sockets, and what is known of them
/// …                                                  // to systemd's fd store, say
/// ```
///
/// and the other process:
///
/// ```swift
/// let server = VarlinkServer(on: loop, router: router, logger: logger)
/// await server.adopt(kept)
/// try await server.listen(at: address)
/// ```
///
/// A connection is kept that is between two calls, or in a call with `more` whose handler declared by
/// ``VarlinkCall/onHandOver(_:)`` how it goes on; the router of the other process has a handler for
/// that, see ``VarlinkRouter/resume(_:_:)``. What had arrived and was not worked on goes along. All
/// others are closed: those whose peer does not read, those that speak another protocol, and streams
/// that can't be resumed. The credentials of a peer are read from the kernel again.
extension VarlinkServer {
    /// Prepares a handover: accepts no connections, starts no calls, and answers those under way.
    ///
    /// Streams go on; those that can't be resumed are waited for.
    ///
    /// - Parameter deadline: How long calls under way may take.
    public func pause(within deadline: Duration) async {
        let paused = state.eventLoop.flatSubmit { [state] in
            state.pause(within: TimeAmount(deadline))
        }
        // The future never fails.
        try? await paused.get()
    }

    /// Hands out the connections that can go on in another process, and closes the others.
    ///
    /// To be called after ``pause(within:)``.
    ///
    /// - Parameters:
    ///   - patience: How long peers may take to read the replies.
    ///   - note: Runs on the loop when streams make no more replies, before any connection is closed here:
    ///     their state can be saved then.
    /// - Returns: The connections, those that were used last first. The caller closes their
    ///   descriptors once they are on their way.
    public func release(
        within patience: Duration, noting note: @escaping @Sendable () -> Void = {}
    ) async -> [VarlinkKeptConnection] {
        let released = state.eventLoop.flatSubmit { [state] in
            state.release(within: TimeAmount(patience), noting: note)
        }
        // The future never fails.
        return (try? await released.get()) ?? []
    }

    /// Goes on with connections of another process, before it listens.
    ///
    /// Streams are resumed before any call is started that waited. Who has gone meanwhile is passed over.
    ///
    /// - Parameter kept: The connections; their descriptors are the server's from now on.
    /// - Returns: How many it serves now.
    @discardableResult
    public func adopt(_ kept: [VarlinkKeptConnection]) async -> Int {
        let adopted = state.eventLoop.flatSubmit { [self] in
            state.handover = .pausing
            let channels = kept.map { adopt($0) }
            return EventLoopFuture.whenAllComplete(channels, on: state.eventLoop).map { [state] in
                state.resume()
                return $0.count { (try? $0.get()) != nil }
            }
        }
        return (try? await adopted.get()) ?? 0
    }

    private func adopt(_ kept: VarlinkKeptConnection) -> EventLoopFuture<Void> {
        guard let known = KeptState(kept.state) else {
            state.logger.log(
                .handoverIncomplete, level: .error,
                [
                    "count": "1",
                    "reason": "a kept connection is closed: what was written down can't be read",
                ])
            close(kept.descriptor)
            return state.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        DescriptorPassing.refuse(on: kept.descriptor)
        return ClientBootstrap(group: state.eventLoop)
            .channelInitializer { [state] channel in state.adopt(channel, known) }
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.writeBufferWaterMark, value: state.waterMark)
            .withConnectedSocket(kept.descriptor).map { _ in }
    }
}

extension VarlinkCall {
    /// Says how the call goes on in another process, if its connection goes to it: see
    /// ``VarlinkServer/release(within:noting:)``.
    ///
    /// For calls with ``wantsMore``, which would otherwise end with this process; of others nothing
    /// is remembered, they are answered before.
    ///
    /// - Parameter describe: Runs on the loop, perhaps several times, when the call makes no more replies
    ///   and all that it made are sent. What it returns is passed to the handler of
    ///   ``VarlinkRouter/resume(_:_:)`` there; nil: it can't go on, or not yet.
    public func onHandOver(_ describe: @escaping @Sendable () -> JSONObject?) {
        guard slot.connection.eventLoop.inEventLoop else {
            return slot.connection.eventLoop.execute { self.onHandOver(describe) }
        }
        slot.connection.onHandOver(slot, describe)
    }
}

extension VarlinkRouter {
    /// Sets what goes on with a method's calls that were under way in another process.
    ///
    /// Whether the peer may call the method is asked again first.
    ///
    /// - Parameters:
    ///   - method: The method; its ordinary handler is set by ``handle(_:_:)``.
    ///   - body: Called on the loop with what ``VarlinkCall/onHandOver(_:)`` returned, and the call, which its peer
    ///     began long ago: replies that were sent must not be repeated.
    public mutating func resume<Method: VarlinkMethod>(
        _ method: Method.Type,
        _ body: @escaping @Sendable (_ state: JSONObject, _ call: VarlinkCall<Method.Reply>) -> Void
    ) {
        resumptions[Method.name] = { state, slot in body(state, VarlinkCall(slot: slot)) }
    }
}
