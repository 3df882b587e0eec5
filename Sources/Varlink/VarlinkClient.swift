public import NIOCore
public import NIOPosix

/// A connection to a Varlink service.
///
/// Any number of calls may be made at once, from anywhere: they go out in order and are answered in
/// order. A stream keeps the connection busy until it ends; calls made meanwhile wait for it, so
/// give long streams a connection of their own.
public final class VarlinkClient: Sendable {
    private let connection: ClientConnection
    private let channel: any Channel

    /// The event loop on which replies arrive and the callbacks of ``send(_:_:then:)`` run.
    public var eventLoop: any EventLoop { connection.eventLoop }

    /// Connects to the service at an address.
    ///
    /// - Parameters:
    ///   - address: The service's address.
    ///   - group: The event loop group, of which one loop is used. Default: the process's own loops.
    ///   - limits: The limits of what the service may send, and of what may wait to be sent to it; only those of
    ///     frames, nesting and queued bytes apply.
    ///   - timeout: The time to wait for a service that is too busy to accept. Default: 10 s.
    /// - Returns: The client.
    /// - Throws: ``VarlinkConnectionError``.
    public static func connect(
        to address: VarlinkAddress,
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        limits: VarlinkLimits = VarlinkLimits(), timeout: Duration = .seconds(10)
    ) async throws -> VarlinkClient {
        let deadline = ContinuousClock.now + timeout
        while true {
            if let descriptor = try UnixConnector.connect(address) {
                return try await connect(descriptor: descriptor, on: group, limits: limits)
            }
            guard ContinuousClock.now < deadline else {
                throw VarlinkConnectionError(
                    .timedOut, "the service at \(address) did not accept within \(timeout)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Connects to the service at a path, see ``connect(to:on:limits:timeout:)``.
    ///
    /// - Parameters:
    ///   - path: The socket's path.
    ///   - group: The event loop group, of which one loop is used. Default: the process's own loops.
    ///   - limits: The limits of what the service may send, and of what may wait to be sent to it.
    ///   - timeout: The time to wait for a service that is too busy to accept. Default: 10 s.
    /// - Returns: The client.
    /// - Throws: ``VarlinkConnectionError``.
    public static func connect(
        unixPath path: String, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        limits: VarlinkLimits = VarlinkLimits(), timeout: Duration = .seconds(10)
    ) async throws -> VarlinkClient {
        try await connect(to: .path(path), on: group, limits: limits, timeout: timeout)
    }

    /// Takes over a socket that is connected already, such as one end of a pair; the client closes it.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - group: The event loop group, of which one loop is used. Default: the process's own loops.
    ///   - limits: The limits of what the service may send; only those of frames and nesting apply.
    /// - Returns: The client.
    /// - Throws: The system's error if the descriptor is no connected socket.
    public static func connect(
        descriptor: Int32, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        limits: VarlinkLimits = VarlinkLimits()
    ) async throws -> VarlinkClient {
        DescriptorPassing.refuse(on: descriptor)
        let connection = ClientConnection(eventLoop: group.next(), limits: limits)
        let channel = try await bootstrap(connection).withConnectedSocket(descriptor).get()
        return VarlinkClient(connection, channel)
    }

    private init(_ connection: ClientConnection, _ channel: any Channel) {
        self.connection = connection
        self.channel = channel
    }

    deinit {
        channel.close(promise: nil)
    }

    /// Closes; calls without a reply fail.
    ///
    /// Does nothing when it is closed.
    public func close() async {
        try? await channel.close().get()
    }

    /// Runs an action on the loop when the connection has ended, for whatever reason.
    ///
    /// - Parameter action: The action, which runs once; at once if the connection has ended already.
    public func onClose(_ action: @escaping @Sendable () -> Void) {
        channel.closeFuture.whenComplete { _ in action() }
    }

    /// Sends a call, or has it sent on the loop.
    func send(_ frame: [UInt8], _ call: ClientConnection.OpenCall?) {
        guard !connection.eventLoop.inEventLoop else { return connection.send(frame, call) }
        connection.eventLoop.execute { [connection] in connection.send(frame, call) }
    }

    /// The connection, for streams.
    var streaming: ClientConnection { connection }

    private static func bootstrap(_ connection: ClientConnection) -> ClientBootstrap {
        let high = max(connection.limits.writableBytes, 2)
        return ClientBootstrap(group: connection.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.writeBufferWaterMark, value: .init(low: high / 2, high: high))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
    }
}
