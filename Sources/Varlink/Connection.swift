internal import JSONCodec
internal import Logging
internal import NIOCore

/// The server's end of one connection.
///
/// Bytes come in through `channelRead`, are cut into frames, and each call's handler runs there and
/// then. What handlers say goes to a ``ReplyQueue``. The channel itself is touched in two places
/// only, both with no handler on the stack: at the end of a read, and in a turn of its own
/// (``takeTurn()``), asked for by whoever answers at another time. So nothing that a channel calls back
/// can enter a handler a second time.
///
/// Unchecked: everything but `let`s is guarded by the event loop, on which alone it is touched.
final class Connection: ChannelDuplexHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let number: UInt64
    let peer: Peer
    let server: ServerState
    let eventLoop: any EventLoop

    private var context: ChannelHandlerContext?
    private var state = State.open

    // What came in.
    private var frames: FrameBuffer
    private var isReadHeld = false

    // What goes out.
    var replies = ReplyQueue()
    private var isChannelWritable = true

    // The calls under way.
    var runningMore: UInt64?
    var silentCalls: Set<UInt64> = []
    private var lastSilentCall: UInt64 = 0
    var closeActions: [UInt64: [@Sendable () -> Void]] = [:]
    var writableActions: [(slot: CallSlot, action: @Sendable () -> Void)] = []

    /// Whether calls are being started: what they answer is sent when that is done.
    private var isStarting = false
    private var isScheduled = false

    private enum State {
        case open
        /// The peer said that it sends no more: its calls are answered, then it is closed.
        case halfClosed
        /// No further call is started; those under way are answered, then it is closed.
        case stopping
        /// Something is wrong with it: to be closed in its next turn.
        case condemned(String)
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
}

// MARK: - What the channel tells

extension Connection {
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        server.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        server.statistics.bytesIn += bytes.readableBytes
        switch state {
        case .open, .halfClosed:
            frames.append(bytes)
            startCalls()
        case .stopping, .condemned, .closing, .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        finishTurn()
    }

    /// Reads only while what was read before can be worked on: the rest stays with the sender.
    func read(context: ChannelHandlerContext) {
        guard canStartCalls || frames.count == 0 else {
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
        if case .inputClosed? = event as? ChannelEvent, case .open = state {
            state = .halfClosed
            schedule()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        server.logger.debug(
            "a connection broke: \(error)", metadata: ["peer": "\(peer)"])
        context.close(promise: nil)
    }
}

// MARK: - Turns

extension Connection {
    /// Asks for a turn, after whatever runs now has returned.
    func schedule() {
        guard !isScheduled, !isStarting else { return }
        isScheduled = true
        server.schedule(self)
    }

    /// A turn of its own: goes on with calls that had to wait, and sends what was said meanwhile.
    func takeTurn() {
        isScheduled = false
        startCalls()
        finishTurn()
    }

    /// No further call is started.
    ///
    /// Those under way are answered, streams are cut, then it closes.
    func stop() {
        switch state {
        case .open, .halfClosed:
            state = .stopping
            schedule()
        case .stopping, .condemned, .closing, .closed: break
        }
    }

    /// Closes without further ado.
    ///
    /// Not to be called inside of a handler.
    func closeNow() {
        context?.close(promise: nil)
    }

    /// Closes in its next turn, because something is wrong.
    func condemn(_ reason: String) {
        switch state {
        case .open, .halfClosed, .stopping, .closing:
            state = .condemned(reason)
            schedule()
        case .condemned, .closed: break
        }
    }

    var isWritable: Bool {
        let waiting = replies.ready.readableBytes + replies.heldBytes
        return isChannelWritable && waiting < server.limits.writableBytes
    }

    var bytesQueued: Int {
        var bytes = replies.ready.readableBytes + replies.heldBytes
        if !isChannelWritable, let options = context?.channel.syncOptions {
            bytes += (try? options.getOption(.bufferedWritableBytes)) ?? 0
        }
        return bytes
    }

    /// Whether what calls are answered with can still reach the peer.
    var takesAnswers: Bool {
        switch state {
        case .open, .halfClosed, .stopping: true
        case .condemned, .closing, .closed: false
        }
    }

    /// Takes in a call that is not to be answered.
    func openSilent() -> UInt64 {
        lastSilentCall += 1
        silentCalls.insert(lastSilentCall)
        return lastSilentCall
    }

    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    private var canStartCalls: Bool {
        switch state {
        case .open, .halfClosed: break
        case .stopping, .condemned, .closing, .closed: return false
        }
        return runningMore == nil && isWritable
            && replies.count + silentCalls.count < server.limits.callsInFlight
    }

    private func startCalls() {
        isStarting = true
        defer { isStarting = false }
        while canStartCalls {
            do throws(ProtocolViolation) {
                guard let frame = try frames.next() else { return }
                try start(frame)
            } catch {
                server.statistics.protocolViolations += 1
                condemn("\(error)")
            }
        }
    }

    private func finishTurn() {
        flush()
        switch state {
        case .condemned(let reason):
            server.logger.warning(
                "closing a connection: \(reason)",
                metadata: ["uid": "\(peer.uid)", "pid": "\(peer.pid)"])
            return closeNow()
        case .halfClosed where replies.count + silentCalls.count == 0 && isWritable:
            return closeWhenSent()
        case .stopping where replies.count + silentCalls.count == (runningMore == nil ? 0 : 1):
            return closeWhenSent()
        case .open, .halfClosed, .stopping: break
        case .closing, .closed: return
        }
        if isWritable { runWritableActions() }
        if isReadHeld, canStartCalls || frames.count == 0 {
            isReadHeld = false
            context?.read()
        }
    }

    private func flush() {
        guard let context, isChannelWritable, replies.ready.readableBytes > 0 else { return }
        server.statistics.bytesOut += replies.ready.readableBytes
        context.writeAndFlush(Self.wrapOutboundOut(replies.ready), promise: nil)
        // Usually all was written at once, and the memory is free to be used again. What was needed
        // for one big reply is not kept.
        if replies.ready.capacity > 16 << 10 {
            replies.ready = ByteBuffer()
        } else {
            replies.ready.clear(minimumCapacity: 0)
        }
    }

    private func runWritableActions() {
        guard !writableActions.isEmpty else { return }
        let actions = writableActions
        writableActions = []
        for (slot, action) in actions where isOpen(slot) { action() }
    }

    /// Closes once everything that was said is with the kernel.
    private func closeWhenSent() {
        guard let context else { return }
        state = .closing
        let channel = context.channel
        let promise = eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
        let rest = replies.ready
        replies.ready = ByteBuffer()
        context.writeAndFlush(Self.wrapOutboundOut(rest), promise: promise)
    }

    private func end() {
        if case .closed = state { return }
        state = .closed
        context = nil
        server.remove(self)
        frames.removeAll()
        replies = ReplyQueue()
        silentCalls = []
        writableActions = []
        let actions = closeActions
        closeActions = [:]
        for (_, actions) in actions.sorted(by: { $0.key < $1.key }) {
            for action in actions { action() }
        }
    }
}
