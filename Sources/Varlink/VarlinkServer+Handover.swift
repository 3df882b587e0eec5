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
/// await server.pause(within: .seconds(10))           // calls in progress are replied to
/// let kept = await server.release(within: .seconds(2)) // sockets, each with its state
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
/// A connection is kept if it is between two calls, or in a call with `more` whose handler set by
/// ``VarlinkCall/onHandOver(_:)`` how the call continues; the router of the other process has a handler
/// for that, see ``VarlinkRouter/resume(_:_:)``. Bytes that had arrived and were not processed are passed
/// on. All other connections are closed: those whose peer does not read, those that speak another
/// protocol, and streams that can't be resumed. The credentials of a peer are read from the kernel again.
extension VarlinkServer {
    /// Prepares a handover: accepts no connections, starts no calls, and answers those under way.
    ///
    /// Streams continue; the server waits for those that can't be resumed.
    ///
    /// - Parameter deadline: The time that calls in progress may take.
    public func pause(within deadline: Duration) async {
        let paused = state.eventLoop.flatSubmit { [state] in
            state.pause(within: TimeAmount(deadline))
        }
        // The future never fails.
        try? await paused.get()
    }

    /// Returns the connections that can continue in another process, and closes the others.
    ///
    /// To be called after ``pause(within:)``.
    ///
    /// - Parameters:
    ///   - patience: The time that peers may take to read the replies.
    ///   - note: Called on the loop when streams make no more replies, before any connection is closed here: their
    ///     state can be saved then.
    /// - Returns: The connections, the last used first. The caller closes their descriptors once they are passed on.
    public func release(
        within patience: Duration, noting note: @escaping @Sendable () -> Void = {}
    ) async -> [VarlinkKeptConnection] {
        let released = state.eventLoop.flatSubmit { [state] in
            state.release(within: TimeAmount(patience), noting: note)
        }
        // The future never fails.
        return (try? await released.get()) ?? []
    }

    /// Continues connections of another process, before it listens.
    ///
    /// Streams are resumed before any waiting call is started. Connections whose peers have disconnected meanwhile are
    /// left out.
    ///
    /// - Parameter kept: The connections; the server owns their descriptors from now on.
    /// - Returns: The number of connections that it serves now.
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
    /// Sets how the call continues in another process, if its connection is handed over: see
    /// ``VarlinkServer/release(within:noting:)``.
    ///
    /// It is for calls with ``wantsMore``, which would otherwise end with this process. For other calls nothing is
    /// kept: they are answered before the handover.
    ///
    /// - Parameter describe: Called on the loop, possibly several times, when the call makes no more replies and all of
    ///   them are sent. Its result is passed to the handler of ``VarlinkRouter/resume(_:_:)`` there; nil: the call
    ///   can't continue, or not yet.
    public func onHandOver(_ describe: @escaping @Sendable () -> JSONObject?) {
        guard slot.connection.eventLoop.inEventLoop else {
            return slot.connection.eventLoop.execute { self.onHandOver(describe) }
        }
        slot.onHandOver(describe)
    }
}

extension VarlinkRouter {
    /// Sets the handler that continues a method's calls from another process.
    ///
    /// Before it is called, the peer's right to call the method is checked again.
    ///
    /// - Parameters:
    ///   - method: The method; its ordinary handler is set by ``handle(_:_:)``.
    ///   - body: Called on the loop with the result of ``VarlinkCall/onHandOver(_:)`` and the call. The peer made the
    ///     call in the earlier process, so replies that were sent must not be repeated.
    public mutating func resume<Method: VarlinkMethod>(
        _ method: Method.Type,
        _ body: @escaping @Sendable (_ state: JSONObject, _ call: VarlinkCall<Method.Reply>) -> Void
    ) {
        resumptions[Method.name] = { state, slot in body(state, VarlinkCall(slot: slot)) }
    }
}
