internal import JSONCodec
internal import Logging
internal import NIOCore

/// The server's end of one connection.
///
/// Bytes arrive in `channelRead`, are cut into frames, and each call's handler runs there and then. Replies go to a
/// ``ReplyQueue``. The channel itself is used in three places only, each without a handler on the stack: at the end of
/// a read; after the reads of other connections, for replies that were held for these (``ServerState/holdReplies(of:)``); and
/// in a turn of its own (``takeTurn()``), scheduled by replies that are made at another time. So no callback of a
/// channel can enter a handler a second time.
///
/// Unchecked: everything but `let`s is used only on the event loop. The runtime does not check exclusive access to the
/// properties that each call uses, which would cost a tenth of a call: no code that uses them calls other code
/// meanwhile.
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

    /// Whether calls are being started; their replies are sent afterwards.
    @exclusivity(unchecked) var isStarting = false
    @exclusivity(unchecked) var isScheduled = false
    /// Whether its remaining calls are deferred behind other connections.
    @exclusivity(unchecked) var isPutOff = false

    /// The resources that it uses.
    @exclusivity(unchecked) var usage = Usage()

    /// The state that another process needs to continue it.
    @exclusivity(unchecked) var keeping = Keeping()

    enum State {
        case open
        /// The peer has shut down its sending side: its calls are replied to, then the connection is closed.
        case halfClosed
        /// No further call is started; those under way are answered, then it is closed.
        case stopping
        /// The connection speaks another protocol as soon as the last reply was passed to the channel.
        case upgrading(@Sendable (VarlinkRawConnection) -> Void)
        /// The connection speaks another protocol.
        case upgraded(RawPipe)
        /// The peer exceeded a limit: calls in progress are replied to, then the peer is sent the reason, and the
        /// connection is closed.
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

    /// Refunds the charged bytes: each call holds its connection, so no call is in progress any more.
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
        case .upgraded(let pipe): pipe.append(bytes)
        case .stopping, .ending, .condemned, .closing, .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A read that brought nothing is the end of the input. SwiftNIO closes that side of the channel next, and
        // stops a debug build if the whole channel is closed by then, as writing to a dead peer does.
        guard hasRead else { return schedule() }
        hasRead = false
        finishTurn(mayHold: true)
        server.sendOverdue()
    }

    /// Reads only while the bytes read before can be processed; the rest stays with the sender.
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

    /// Closes the channel.
    ///
    /// Every way to close it, except ``closeDescriptor()``, passes here or does the same.
    func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        guard case .all = mode else { return context.close(mode: mode, promise: promise) }
        context.shutAndClose(promise: promise)
    }
}

// MARK: - Turns

extension Connection {
    /// Schedules a turn, after the code that runs now has returned.
    func schedule() {
        guard !isScheduled, !isStarting else { return }
        isScheduled = true
        server.schedule(self)
    }

    /// A turn of its own: starts calls that had to wait, and sends the replies made since.
    func takeTurn() {
        isScheduled = false
        startCalls()
        if isWritable {
            // What they say goes out in this turn.
            let wasAlone = calls.alone != nil
            isStarting = true
            runWritableActions()
            isStarting = false
            // A stream that ended lets the calls behind it start.
            if wasAlone, calls.alone == nil { schedule() }
        }
        finishTurn()
    }

    /// Its further calls wait in line, for others to come first.
    func putOff() { isPutOff = true }

    /// Starts calls that were postponed for other connections.
    func runPostponed() {
        isPutOff = false
        takeTurn()
        if context == nil, !isPutOff { end() }
    }

    /// Handles the end of the channel.
    ///
    /// Postponed calls are still started, because they were made, although their replies are dropped.
    func leave() {
        context = nil
        switch state {
        case .open where isPutOff, .halfClosed where isPutOff: break
        default: end()
        }
    }

    /// Stops the connection: no further call is started.
    ///
    /// Calls in progress are replied to, streams are cut, then it is closed.
    func stop() {
        switch state {
        case .open, .halfClosed:
            state = .stopping
            schedule()
        case .upgrading, .upgraded: closeNow()
        case .stopping, .ending, .condemned, .closing, .closed: break
        }
    }

    /// Closes at once.
    ///
    /// Not to be called from a handler.
    func closeNow() {
        guard let context else { return end() }
        context.shutAndClose()
    }

    /// Closes the descriptor without shutting the socket down: another process continues the connection with a copy.
    func closeDescriptor() {
        context?.close(promise: nil)
    }

    var isWritable: Bool {
        let waiting = replies.ready.readableBytes + replies.heldBytes
        return isChannelWritable && server.handover != .frozen
            && waiting < server.limits.writableBytes
    }

    /// Whether replies can still reach the peer.
    var takesAnswers: Bool {
        switch state {
        case .open, .halfClosed, .stopping, .upgrading, .ending: true
        case .upgraded, .condemned, .closing, .closed: false
        }
    }

    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Whether to read on.
    ///
    /// False while a limit holds back further calls, and after a call with `upgrade`: the bytes behind that may belong
    /// to another protocol.
    var wantsBytes: Bool {
        switch state {
        case .upgraded(let pipe): pipe.wantsBytes
        case .upgrading, .ending: false
        default:
            server.handover == .none
                && (canStartCalls || (frames.count == 0 && calls.alone?.wantsUpgrade != true))
        }
    }

    var canStartCalls: Bool {
        switch state {
        case .open, .halfClosed: break
        case .stopping, .upgrading, .upgraded, .ending, .condemned, .closing, .closed: return false
        }
        return calls.alone == nil && server.handover == .none && isWritable && !isPutOff
            && replies.count + silentCalls.count < server.limits.callsInFlight
            && hasRoomForCalls
    }

    func startCalls() {
        guard frames.count > 0, canStartCalls else { return }
        isStarting = true
        server.budget.begin()
        defer {
            isStarting = false
            let time = server.budget.end()
            server.meters?.endTurn(peer, after: time)
        }
        while frames.count > 0, canStartCalls {
            guard server.budget.takeCall() else { return server.putOff(self) }
            do throws(ProtocolViolation) {
                guard let frame = try frames.next() else { return }
                try start(frame)
            } catch {
                condemn(for: error)
            }
        }
    }

    /// Sends the ready replies, and does what the state of the connection requires.
    ///
    /// - Parameter mayHold: Whether replies may be sent later in this turn of the loop.
    func finishTurn(mayHold: Bool = false) {
        if !mayHold || !isHoldable || !server.holdReplies(of: self) { flush() }
        switch state {
        case .condemned(let condemnation): return carryOut(condemnation)
        case .halfClosed
        where replies.count + silentCalls.count == 0 && isWritable && !hasToGoOn && !isPutOff:
            // Unread replies are charged to the user until the connection closes.
            measure()
            if case .halfClosed = state { closeWhenSent() }
            return
        case .stopping where isAnswered: return closeWhenSent()
        case .ending(let condemnation) where isAnswered:
            explain(condemnation)
            return closeWhenSent()
        case .upgrading(let then) where replies.count == 0 && replies.ready.readableBytes == 0:
            return upgrade(then)
        case .open, .halfClosed, .stopping, .upgrading, .ending: break
        case .upgraded, .closing, .closed: return
        }
        measure()
        if frames.count > 0 { server.scheduleSweep() }
        if isWritable, calls.awaitsPeer { schedule() }
        if isReadHeld, wantsBytes {
            isReadHeld = false
            context?.read()
        }
    }

    /// Whether there are replies, so few that they may be sent somewhat later.
    private var isHoldable: Bool {
        guard case .open = state else { return false }
        return (1...Self.mostHeld).contains(replies.ready.readableBytes)
    }

    /// The most bytes that are held.
    private static var mostHeld: Int { 16 << 10 }

    func flush() {
        guard let context, isChannelWritable, replies.ready.readableBytes > 0 else { return }
        server.statistics.bytesOut += replies.ready.readableBytes
        usage.send(replies.ready.readableBytes, ofAll: server.statistics.bytesOut)
        context.writeAndFlush(Self.wrapOutboundOut(replies.ready), promise: nil)
        replies.clearReady()
    }

    private func runWritableActions() {
        guard calls.awaitsPeer else { return }
        var actions = calls.takeWritable()
        for action in actions where isOpen(action.slot) {
            server.meters?.write(action.slot.method, peer)
            action.run()
        }
        calls.giveBack(&actions)
    }

    /// Closes once all replies are with the kernel.
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

    func end() {
        if case .closed = state { return }
        if case .upgraded(let pipe) = state { pipe.end() }
        state = .closed
        context = nil
        countDropped()
        chargeForCallsAlone()
        server.remove(self)
        frames.removeAll()
        replies = ReplyQueue()
        silentCalls = SilentCalls()
        for action in calls.close() { action() }
    }
}
