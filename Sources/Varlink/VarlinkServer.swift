internal import Glibc
public import Logging
public import NIOCore
public import NIOPosix

/// A Varlink service: UAPI.20 v0.1, JSON objects ended by a NUL, over Unix stream sockets.
///
/// ## What it promises
///
/// 1. **Order.** Replies leave a connection in the order of its calls, whatever order they are answered
///    in. Several calls of a connection may be under way at once; while one with `more` is, no later
///    one is started.
/// 2. **One loop.** A server lives on one event loop. Handlers run on it, inline, in the turn that read
///    their call: no task, no hop. They may answer at once, later on the loop, or from any thread.
/// 3. **Replying runs no other code.** A reply is only queued. It is written, with all others
///    of its connection, after the handler has returned: once a turn. So a handler is never entered
///    a second time by a connection that turns out to be dead.
/// 4. **Silence.** A call with `oneway` is never answered, whatever its handler does.
/// 5. **Bounded memory.** Each limit of ``VarlinkLimits`` is a value with a default. Who sends faster
///    than is answered, or does not read answers, is no longer read from.
/// 6. **Malformed is closed.** What has no well-defined reply ends its connection, is logged with the
///    peer's user and process, and is counted. Others do not notice, and the log does not overflow.
/// 7. **No descriptors.** What a peer sends along with its bytes is never received.
/// 8. **Upgrades lose nothing.** After the NUL of a call with `upgrade` no byte is taken for a call: all of
///    them are the other protocol's, or calls again if the upgrade is refused.
/// 9. **An orderly end.** ``stop(within:)`` answers what was accepted, then closes.
public final class VarlinkServer: Sendable {
    /// Where a server listens.
    public enum Address: Sendable, Hashable {
        /// At a path; the file is made with this mode, and given to this group, before anyone can
        /// connect. A file left by a server that is gone is replaced.
        case path(String, mode: UInt32 = 0o660, group: String? = nil)

        /// On a socket that listens already, such as one inherited from systemd. The server closes it.
        case descriptor(Int32)
    }

    let state: ServerState
    private let files = SocketFiles()

    /// Makes a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - loop: Where it lives: all connections and all handlers.
    ///   - router: What it answers.
    ///   - limits: What peers may use up.
    ///   - logger: Where closed and refused connections are logged.
    public init(
        on loop: any EventLoop, router: VarlinkRouter, limits: VarlinkLimits = VarlinkLimits(),
        logger: Logger
    ) {
        state = ServerState(eventLoop: loop, router: router, limits: limits, logger: logger)
    }

    /// Makes a server and has it listen.
    ///
    /// - Parameters:
    ///   - loop: Where it lives: all connections and all handlers. By default one of the process's own.
    ///   - address: Where it listens.
    ///   - router: What it answers.
    ///   - limits: What peers may use up.
    ///   - logger: Where closed and refused connections are logged; one labelled `varlink` by default.
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
    /// - Parameter address: Where.
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
    /// - Throws: What the system says of a descriptor that is no connected socket.
    public func serve(_ descriptor: Int32) async throws {
        DescriptorPassing.refuse(on: descriptor)
        _ = try await ClientBootstrap(group: state.eventLoop)
            .channelInitializer { [state] channel in state.accept(channel) }
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.writeBufferWaterMark, value: state.waterMark)
            .withConnectedSocket(descriptor).get()
    }

    /// Changes what peers may use up.
    ///
    /// Who has more than that keeps it, and gets no more. ``VarlinkLimits/writableBytes`` and
    /// ``VarlinkLimits/logLines`` stay as they were.
    ///
    /// - Parameter limits: What they may from now on.
    public func limit(to limits: VarlinkLimits) async {
        // The future never fails.
        try? await state.eventLoop.submit { [state] in state.limit(to: limits) }.get()
    }

    /// Changes what peers may do, and has the calls under way look whether they are still allowed: see
    /// ``VarlinkCall/onReview(_:)``.
    ///
    /// Both in one turn: no call is answered in between.
    ///
    /// - Parameter change: Makes the change; run on the loop.
    public func review(after change: @escaping @Sendable () -> Void) async {
        // The future never fails.
        try? await state.eventLoop.submit { [state] in
            change()
            for connection in state.all { connection.review() }
        }.get()
    }

    /// Goes on serving until the task is cancelled, then stops.
    ///
    /// A program may end with this.
    ///
    /// - Parameter deadline: How long calls under way may take then, see ``stop(within:)``; 10 s by default.
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

    /// Stops: accepts no connections and no calls from now on, answers the calls under way, cuts
    /// streams, and closes.
    ///
    /// A second call waits for the same end.
    ///
    /// - Parameter deadline: How long calls under way may take. What is left then is closed.
    public func stop(within deadline: Duration) async {
        await files.removeAll()
        let ended = state.eventLoop.flatSubmit { [state] in
            state.stop(within: TimeAmount(deadline))
        }
        // The future never fails.
        try? await ended.get()
    }

    /// What the server has seen.
    ///
    /// To be asked on its loop only; elsewhere ask ``currentStatistics()``.
    public var statistics: VarlinkStatistics {
        state.eventLoop.preconditionInEventLoop()
        return state.currentStatistics
    }

    /// What the server has counted, for callers that are not on its loop.
    ///
    /// - Returns: The counts of one moment.
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
