internal import JSONCodec
internal import Logging
internal import NIOCore

/// The server's end of one connection.
///
/// Bytes come in through `channelRead`, are cut into frames, and each call's handler runs there and
/// then. What handlers say goes to a ``ReplyQueue``. The channel itself is touched in two places
/// only, both with no handler on the stack: at the end of a read, and in a turn of its own
/// (``takeTurn()``), scheduled by replies that are made at another time. So nothing that a channel calls back
/// can enter a handler a second time.
///
/// Unchecked: everything but `let`s is guarded by the event loop, on which alone it is touched. What each
/// call touches is not guarded again at each access by the runtime, which would be a tenth of a
/// call: nothing that is done with it calls anybody else.
final class Connection: ChannelDuplexHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let number: UInt64
    let peer: Peer
    let server: ServerState
    let eventLoop: any EventLoop

    var context: ChannelHandlerContext?
    @exclusivity(unchecked) var state = State.open

    // What came in.
    @exclusivity(unchecked) var frames: FrameBuffer
    var isReadHeld = false
    /// Whether the read under way has brought bytes.
    @exclusivity(unchecked) private var hasRead = false

    // What goes out.
    @exclusivity(unchecked) var replies = ReplyQueue()
    @exclusivity(unchecked) var isChannelWritable = true

    // The calls under way.
    @exclusivity(unchecked) var silentCalls = SilentCalls()
    @exclusivity(unchecked) var calls = CallsUnderWay()

    /// Whether calls are being started: what they answer is sent when that is done.
    @exclusivity(unchecked) var isStarting = false
    @exclusivity(unchecked) var isScheduled = false
    /// Whether its further calls wait in line, for others to come first.
    @exclusivity(unchecked) var isPutOff = false

    /// What it uses up.
    @exclusivity(unchecked) var usage = Usage()

    /// What another process would need to go on with it.
    @exclusivity(unchecked) var keeping = Keeping()

    enum State {
        case open
        /// The peer has shut down its sending side: its calls are replied to, then the connection is closed.
        case halfClosed
        /// No further call is started; those under way are answered, then it is closed.
        case stopping
        /// It speaks another protocol as soon as the last reply is on its way.
        case upgrading(@Sendable (VarlinkRawConnection) -> Void)
        /// It speaks another protocol.
        case upgraded(RawPipe)
        /// It exceeded a limit: calls under way are replied to, then it is sent the reason, and closed.
        case ending(Condemnation)
        /// Something is wrong with it: to be closed in its next turn.
        case condemned(Condemnation)
        /// The last bytes are on their way.
        case closing
        case closed
    }

    init(number: UInt64, peer: Peer, server: ServerState) {
        self.number = number
        self.peer = peer
        self.server = server
        eventLoop = server.eventLoop
        frames = FrameBuffer(limit: server.limits.frameBytes)
    }

    /// Each call holds its connection: what was under way at the end of the connection is gone now.
    deinit {
        guard usage.charged > 0 else { return }
        let (server, uid, bytes) = (server, peer.uid, usage.charged)
        // The last call may have gone on any thread, and inside of anything on the loop.
        eventLoop.execute { server.accounts.charge(-bytes, to: uid) }
    }
}

// MARK: - Events of the channel

extension Connection {
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        server.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        server.statistics.bytesIn += bytes.readableBytes
        hasRead = true
        switch state {
        case .open, .halfClosed:
            frames.append(bytes)
            startCalls()
        case .upgrading: frames.append(bytes)
        case .upgraded(let pipe): pipe.take(bytes)
        case .stopping, .ending, .condemned, .closing, .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A read that brought nothing is the end of the input. SwiftNIO closes that side of the channel next, and
        // stops a debug build if the whole channel is closed by then, as writing to a dead peer does.
        guard hasRead else { return schedule() }
        hasRead = false
        finishTurn()
    }

    /// Reads only while what was read before can be worked on: the rest stays with the sender.
    func read(context: ChannelHandlerContext) {
        guard wantsBytes else {
            isReadHeld = true
            return
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isChannelWritable = context.channel.isWritable
        if isChannelWritable { schedule() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            switch state {
            case .open:
                state = .halfClosed
                schedule()
            case .upgraded(let pipe): pipe.end()
            default: usage.endInput()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        server.logger.debug(
            "a connection broke",
            metadata: [
                "peer-uid": "\(peer.uid)", "peer-pid": "\(peer.pid)", "reason": "\(error)",
            ])
        context.shutAndClose()
    }

    /// All that close the channel but ``letGo()`` come by here, or call the same.
    func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        guard case .all = mode else { return context.close(mode: mode, promise: promise) }
        context.shutAndClose(promise: promise)
    }
}
