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

    /// Where replies arrive and the callbacks of ``send(_:_:then:)`` run.
    public var eventLoop: any EventLoop { connection.eventLoop }

    /// Connects to the service at a path.
    ///
    /// - Parameters:
    ///   - path: The socket's path.
    ///   - group: Where to live; on one loop of it. By default on the process's own loops.
    ///   - limits: What the service may send: frames and nesting are looked at.
    ///   - timeout: How long to wait for a service that is too busy to accept.
    /// - Returns: The client.
    /// - Throws: ``VarlinkConnectionError``.
    public static func connect(
        unixPath path: String, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        limits: VarlinkLimits = VarlinkLimits(), timeout: Duration = .seconds(10)
    ) async throws -> VarlinkClient {
        let connection = ClientConnection(eventLoop: group.next(), limits: limits)
        let deadline = ContinuousClock.now + timeout
        while true {
            do {
                let channel = try await bootstrap(connection)
                    .connectTimeout(TimeAmount(timeout))
                    .connect(unixDomainSocketPath: path).get()
                return VarlinkClient(connection, channel)
            } catch let error as IOError where error.errnoCode == EAGAIN {
                // The queue of those who wait to be accepted is full.
                guard ContinuousClock.now < deadline else {
                    throw VarlinkConnectionError(
                        .timedOut, "the service at \(path) did not accept within \(timeout)")
                }
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                throw explain(error, path)
            }
        }
    }

    /// Takes over a socket that is connected already, such as one end of a pair; the client closes it.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - group: Where to live; on one loop of it. By default on the process's own loops.
    ///   - limits: What the service may send: frames and nesting are looked at.
    /// - Returns: The client.
    /// - Throws: What the system says of a descriptor that is no connected socket.
    public static func connect(
        descriptor: Int32, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        limits: VarlinkLimits = VarlinkLimits()
    ) async throws -> VarlinkClient {
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

    /// Has something run on the loop when the connection has ended, for whatever reason.
    ///
    /// - Parameter action: What to run, once; at once if it has ended already.
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
        ClientBootstrap(group: connection.eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(connection)
            }
        }
    }

    private static func explain(_ error: any Error, _ path: String) -> VarlinkConnectionError {
        switch error {
        case let error as IOError:
            VarlinkConnectionError(connectingTo: path, code: error.errnoCode)
        case ChannelError.connectTimeout:
            VarlinkConnectionError(.timedOut, "the service at \(path) did not accept in time")
        case is SocketAddressError:
            VarlinkConnectionError(
                .other,
                "\(path) is too long: a socket's path has at most "
                    + "\(UnixAddress.pathLimit) bytes")
        default:
            VarlinkConnectionError(.other, "can't connect to the socket \(path): \(error)")
        }
    }
}
