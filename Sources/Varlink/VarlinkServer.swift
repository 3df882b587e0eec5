internal import Glibc
public import Logging
public import NIOCore
public import NIOPosix

/// A Varlink service: UAPI.20 v0.1, JSON objects ended by a NUL, over Unix stream sockets.
///
/// ## What it promises
///
/// 1. **Order.** Replies leave a connection in the order of its calls, whatever order they are answered in. Several
///    calls of a connection may be under way at once; while one with `more` is, no later one is started.
/// 2. **One loop.** A server lives on one event loop. Handlers run on it, inline, in the turn that read their call: no
///    task, no hop. They may answer at once, later on the loop, or from any thread.
/// 3. **Replying runs no other code.** A reply is only queued. It is written, with all others of its connection, after
///    the handler has returned: once a turn. So a handler is never entered a second time by a connection that turns out
///    to be dead.
/// 4. **Silence.** A call with `oneway` is never replied to, whatever its handler does.
/// 5. **Bounded memory.** Each limit of ``VarlinkLimits`` is a value with a default. A peer that sends faster than it
///    is answered, or does not read replies, is no longer read from.
/// 6. **Malformed is closed.** A message that has no well-defined reply ends its connection, is logged with the peer's
///    user and process, and is counted. Other connections are not affected, and the number of log lines is limited.
/// 7. **No descriptors.** Descriptors that a peer sends along with its bytes are never received.
/// 8. **Upgrades lose nothing.** Bytes after the NUL of a call with `upgrade` are not taken for a call: they belong to
///    the other protocol, or are calls again if the upgrade is refused.
/// 9. **An orderly end.** ``stop(within:)`` answers what was accepted, then closes.
public final class VarlinkServer: Sendable {
    /// The address at which a server listens.
    public enum Address: Sendable, Hashable {
        /// A path, at which a socket file is made with this mode and given to this group before anyone can connect.
        ///
        /// A file left by a server that is gone is replaced.
        case path(String, mode: UInt32 = 0o660, group: String? = nil)

        /// A socket that listens already, such as one inherited from systemd; the server closes it.
        case descriptor(Int32)
    }

    let state: ServerState
    private let files = SocketFiles()

    /// Makes a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - loop: The event loop of all connections and handlers.
    ///   - router: The router of its calls.
    ///   - limits: The limits of peers.
    ///   - logger: Logs closed and refused connections.
    public init(
        on loop: any EventLoop, router: VarlinkRouter, limits: VarlinkLimits = VarlinkLimits(),
        logger: Logger
    ) {
        state = ServerState(eventLoop: loop, router: router, limits: limits, logger: logger)
    }

    /// Makes a server that listens.
    ///
    /// - Parameters:
    ///   - loop: The event loop of all connections and handlers. Default: one of the process's own.
    ///   - address: The address at which it listens.
    ///   - router: The router of its calls.
    ///   - limits: The limits of peers.
    ///   - logger: Logs closed and refused connections. Default: a logger with the label `varlink`.
    /// - Returns: The server, which answers already.
    /// - Throws: ``VarlinkBindError``.
    public static func start(
        on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        at address: Address, router: VarlinkRouter,
        limits: VarlinkLimits = VarlinkLimits(), logger: Logger = Logger(label: "varlink")
    ) async throws -> VarlinkServer {
        let server = VarlinkServer(on: loop, router: router, limits: limits, logger: logger)
        try await server.listen(at: address)
        return server
    }

    /// Listens at one more address.
    ///
    /// - Parameter address: The address.
    /// - Throws: ``VarlinkBindError``.
    public func listen(at address: Address) async throws {
        switch address {
        case .descriptor(let descriptor):
            DescriptorPassing.refuse(on: descriptor)
            try await accept(on: descriptor)
        case .path(let path, let mode, let group):
            let listener = try VarlinkListener(path: path, mode: mode, group: group)
            try await accept(on: listener.descriptor)
            await files.add(listener.file)
        }
    }

    /// Serves a socket that is connected already, such as one end of a pair.
    ///
    /// - Parameter descriptor: The socket; the server closes it.
    /// - Throws: The system's error if the descriptor is no connected socket.
    public func serve(_ descriptor: Int32) async throws {
        DescriptorPassing.refuse(on: descriptor)
        _ = try await ClientBootstrap(group: state.eventLoop)
            .channelInitializer { [state] channel in state.accept(channel) }
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.writeBufferWaterMark, value: state.waterMark)
            .withConnectedSocket(descriptor).get()
    }

    /// Changes the limits of peers.
    ///
    /// Peers that exceed the new limits keep what they have, and get no more. ``VarlinkLimits/writableBytes`` and
    /// ``VarlinkLimits/logLines`` stay as they were.
    ///
    /// - Parameter limits: The new limits.
    public func limit(to limits: VarlinkLimits) async {
        // The future never fails.
        try? await state.eventLoop.submit { [state] in state.limit(to: limits) }.get()
    }

    /// Changes the rights of peers, and runs the review handlers of calls in progress: see
    /// ``VarlinkCall/onReview(_:)``.
    ///
    /// Both happen in one turn: no call is replied to in between.
    ///
    /// - Parameter change: Makes the change; called on the loop.
    public func review(after change: @escaping @Sendable () -> Void) async {
        // The future never fails.
        try? await state.eventLoop.submit { [state] in
            change()
            for connection in state.all { connection.review() }
        }.get()
    }

    /// Serves until the task is cancelled, then stops.
    ///
    /// A program may end with this call.
    ///
    /// - Parameter deadline: The time that calls in progress may then take, see ``stop(within:)``. Default: 10 s.
    public func run(stoppingWithin deadline: Duration = .seconds(10)) async {
        let (endless, end) = AsyncStream.makeStream(of: Never.self)
        // Its loop ends when the task is cancelled; `end` must be referenced until then.
        await withTaskCancellationHandler {
            for await _ in endless {}
        } onCancel: {
            end.finish()
        }
        await stop(within: deadline)
    }

    /// Stops: accepts no more connections and calls, answers the calls in progress, cuts streams, and closes.
    ///
    /// A second call waits for the same end.
    ///
    /// - Parameter deadline: The time that calls in progress may take. Connections that are left then are closed.
    public func stop(within deadline: Duration) async {
        await files.removeAll()
        let ended = state.eventLoop.flatSubmit { [state] in
            state.stop(within: TimeAmount(deadline))
        }
        // The future never fails.
        try? await ended.get()
    }

    /// The server's counters.
    ///
    /// Use it on the server's loop only; elsewhere use ``currentStatistics()``.
    public var statistics: VarlinkStatistics {
        state.eventLoop.preconditionInEventLoop()
        return state.currentStatistics
    }

    /// Returns the server's counters, for callers that are not on its loop.
    ///
    /// - Returns: The counters of one moment.
    public func currentStatistics() async -> VarlinkStatistics {
        let statistics = state.eventLoop.submit { [state] in state.currentStatistics }
        return (try? await statistics.get()) ?? VarlinkStatistics()
    }

    private func accept(on descriptor: Int32) async throws {
        let listener = try await ServerBootstrap(group: state.eventLoop)
            .childChannelInitializer { [state] channel in state.accept(channel) }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.writeBufferWaterMark, value: state.waterMark)
            .withBoundSocket(descriptor).get()
        // SwiftNIO listens anew, with room for 128 whatever its options, and a connect that finds no
        // room fails at once where it may not wait.
        VarlinkListener.listen(on: descriptor)
        try await state.eventLoop.submit { [state] in state.add(listener: listener) }.get()
    }
}

/// The files that a server's sockets have, until it stops.
private actor SocketFiles {
    private var files: [SocketFile] = []

    func add(_ file: SocketFile) {
        files.append(file)
    }

    func removeAll() {
        for file in files { file.remove() }
        files = []
    }
}
