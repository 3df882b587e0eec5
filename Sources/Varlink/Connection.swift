internal import JSONCodec
internal import Logging
internal import NIOCore

/// The server's end of one connection.
///
/// Bytes arrive in `channelRead`, are cut into frames, and each call's handler runs there and then. It replies through
/// its ``CallSlot``, which adds to a ``ReplyQueue``. The channel itself is used in three places only, each without a
/// handler on the stack: at the end of a read; after the reads of other connections, for replies that were held for
/// these (``ServerState/holdReplies(of:)``); and in a turn of its own (``takeTurn()``), scheduled by replies that are
/// made at another time. So no callback of a channel can enter a handler a second time.
///
/// Unchecked: everything but `let`s is used only on the event loop. The runtime does not check exclusive access to the
/// parts, which would cost a tenth of a call: they call no other code, so an access to one never begins during another.
/// They do release the closures of calls that end: what those capture must not reply in its `deinit`.
final class Connection: ChannelDuplexHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let number: UInt64
    let peer: Peer
    let server: ServerState
    let eventLoop: any EventLoop

    private(set) var context: ChannelHandlerContext?
    @exclusivity(unchecked) private(set) var isChannelWritable = true

    // The parts, each with a state of its own.
    @exclusivity(unchecked) var state = ConnectionState()
    @exclusivity(unchecked) var input: ConnectionInput
    @exclusivity(unchecked) var calls = CallsUnderWay()
    @exclusivity(unchecked) var turn = TurnState()
    @exclusivity(unchecked) var usage = ConnectionUsage()

    init(number: UInt64, peer: Peer, server: ServerState) {
        self.number = number
        self.peer = peer
        self.server = server
        eventLoop = server.eventLoop
        input = ConnectionInput(frameBytes: server.limits.frameBytes)
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
        input.beginRead()
        switch state.phase {
        case .open, .halfClosed:
            input.frames.append(bytes)
            startCalls()
        case .upgrading: input.frames.append(bytes)
        case .upgraded(let pipe): pipe.append(bytes)
        case .stopping, .ending, .condemned, .closing, .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A read that brought nothing is the end of the input. SwiftNIO closes that side of the channel next, and
        // stops a debug build if the whole channel is closed by then, as writing to a dead peer does.
        guard input.endRead() else { return schedule() }
        finishTurn(mayHold: true)
        server.sendOverdue()
    }

    /// Reads only while the bytes read before can be processed; the rest stays with the sender.
    func read(context: ChannelHandlerContext) {
        guard wantsBytes else { return input.holdRead() }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isChannelWritable = context.channel.isWritable
        if isChannelWritable { schedule() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            input.end()
            switch state.phase {
            case .open:
                state.endInput()
                schedule()
            case .upgraded(let pipe): pipe.end()
            default: break
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
    @inline(__always)
    func schedule() {
        if turn.schedule() { server.schedule(self) }
    }

    /// A turn of its own: starts calls that had to wait, and sends the replies made since.
    func takeTurn() {
        turn.begin()
        startCalls()
        if isWritable {
            // What they say goes out in this turn.
            let wasAlone = calls.alone != nil
            turn.beginHandlers()
            runWritableActions()
            turn.endHandlers()
            // A stream that ended lets the calls behind it start.
            if wasAlone, calls.alone == nil { schedule() }
        }
        finishTurn()
    }

    /// Starts calls that were postponed for other connections.
    func runPostponed() {
        turn.resume()
        takeTurn()
        if context == nil, !turn.isPostponed { end() }
    }

    /// Handles the end of the channel.
    ///
    /// Postponed calls that want no reply are still started, because they were made.
    func leave() {
        context = nil
        if !(state.takesCalls && turn.isPostponed) { end() }
    }

    /// Stops the connection: no further call is started.
    ///
    /// Calls in progress are replied to, streams are cut, then it is closed.
    func stop() {
        switch state.phase {
        case .open, .halfClosed:
            state.stop()
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
        isChannelWritable && server.handover != .frozen
            && calls.replies.waitingBytes < server.limits.writableBytes
    }

    /// Whether to read on.
    ///
    /// False while a limit holds back further calls, and after a call with `upgrade`: the bytes behind that may belong
    /// to another protocol.
    var wantsBytes: Bool {
        switch state.phase {
        case .upgraded(let pipe): pipe.wantsBytes
        case .upgrading, .ending: false
        default:
            server.handover == .none
                && (canStartCalls || (input.frames.count == 0 && calls.alone?.wantsUpgrade != true))
        }
    }

    /// Sends the ready replies, maybe later in this turn of the loop, and does what the state of the connection
    /// requires.
    func finishTurn(mayHold: Bool = false) {
        if !mayHold || !isHoldable || !server.holdReplies(of: self) { flush() }
        switch state.phase {
        case .condemned(let condemnation):
            explain(condemnation)
            flush()
            return closeNow()
        case .halfClosed
        where calls.count == 0 && isWritable && !hasToGoOn && !turn.isPostponed:
            // Unread replies are charged to the user until the connection closes.
            measure()
            if case .halfClosed = state.phase { closeWhenSent() }
            return
        case .stopping where calls.areAnswered: return closeWhenSent()
        case .ending(let condemnation) where calls.areAnswered:
            explain(condemnation)
            return closeWhenSent()
        case .upgrading(let then) where calls.replies.isEmpty: return upgrade(then)
        case .open, .halfClosed, .stopping, .upgrading, .ending: break
        case .upgraded, .closing, .closed: return
        }
        measure()
        if input.frames.count > 0 { server.scheduleSweep() }
        if isWritable, calls.awaitsPeer { schedule() }
        if input.isReadHeld, wantsBytes {
            input.releaseRead()
            context?.read()
        }
    }

    /// Whether there are replies, so few that they may be sent somewhat later.
    private var isHoldable: Bool {
        guard case .open = state.phase else { return false }
        return (1...ConnectionTurns.mostHeld).contains(calls.replies.ready.readableBytes)
    }

    func flush() {
        // Nobody reads the replies to calls that outlived their peer.
        guard let context else { return calls.replies.clearReady() }
        let bytes = calls.replies.ready.readableBytes
        guard isChannelWritable, bytes > 0 else { return }
        server.statistics.bytesOut += bytes
        usage.send(bytes, ofAll: server.statistics.bytesOut)
        context.writeAndFlush(Self.wrapOutboundOut(calls.replies.ready), promise: nil)
        calls.replies.clearReady()
    }

    private func runWritableActions() {
        guard calls.awaitsPeer else { return }
        var actions = calls.takeWritable()
        for action in actions where action.slot.isOpen {
            server.meters?.write(action.slot.method, peer)
            action.run()
        }
        calls.giveBack(&actions)
    }

    /// Closes once all replies are with the kernel.
    private func closeWhenSent() {
        guard let context else { return }
        state.close()
        let channel = context.channel
        let promise = eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(calls.replies.takeReady()), promise: promise)
    }

    func end() {
        if state.isClosed { return }
        if case .upgraded(let pipe) = state.phase { pipe.end() }
        state.end()
        context = nil
        if let meters = server.meters { for method in calls.unanswered { meters.drop(method) } }
        // The calls under way have not ended with it, and stay charged.
        _ = charge(calls.memory)
        server.remove(self)
        input.frames.removeAll()
        for action in calls.close() { action() }
    }
}

// MARK: - Calls

// How calls are started. Their replies: ``CallSlot``.
extension Connection {
    /// Whether another call may be started now.
    var canStartCalls: Bool {
        guard state.takesCalls else { return false }
        return calls.alone == nil && server.handover == .none && isWritable && !turn.isPostponed
            && calls.count < server.limits.callsInFlight && hasRoomForCalls
    }

    /// Starts the calls that were read, as far as the limits and the turn allow.
    func startCalls() {
        guard input.frames.count > 0, canStartCalls else { return }
        turn.beginHandlers()
        server.budget.begin()
        defer {
            turn.endHandlers()
            let time = server.budget.end()
            server.meters?.endTurn(peer, after: time)
        }
        while input.frames.count > 0, canStartCalls {
            guard server.budget.takeCall() else { return server.postpone(self) }
            do throws(ProtocolViolation) {
                guard let frame = try input.frames.next() else { return }
                try start(frame)
            } catch {
                condemn(for: error)
            }
        }
    }

    /// Starts the call that a frame holds.
    func start(_ frame: ByteBuffer) throws(ProtocolViolation) {
        let started = server.meters?.turnStart(at: server.budget.began) ?? 0
        let outcome = frame.withUnsafeReadableBytes { bytes in
            Result { () throws(ProtocolViolation) in
                start(try header(of: bytes), of: bytes.count, at: started)
            }
        }
        try outcome.get()
    }

    @inline(__always)
    private func header(
        of frame: UnsafeRawBufferPointer
    ) throws(ProtocolViolation) -> CallHeader {
        guard frame.count <= server.unhurriedBytes else { return try header(ofLong: frame) }
        return try checkedHeader(of: frame)
    }

    /// Parses the header of a long call; checks the rest only if the call may be made, since that takes long.
    @inline(never)
    private func header(
        ofLong frame: UnsafeRawBufferPointer
    ) throws(ProtocolViolation) -> CallHeader {
        let header = try CallHeader(frame, nesting: CallHeader.deepest, check: .nothing)
        guard let entry = server.table.entry(for: header), entry.authorize?(peer) == nil,
            frame.count <= server.limits.bytes(ofCallsOf: entry.name)
        else { return header }
        return try checkedHeader(of: frame)
    }

    /// Parses the header of a call, and checks that all of it is JSON.
    ///
    /// If it is JSON and only beyond a limit of ours, the call alone fails, when its parameters are to be read: it may
    /// be one person's, on a connection that many share.
    @inline(__always)
    private func checkedHeader(
        of frame: UnsafeRawBufferPointer
    ) throws(ProtocolViolation) -> CallHeader {
        do throws(ProtocolViolation) {
            return try CallHeader(frame, nesting: server.limits.nesting)
        } catch {
            guard case .malformed = error else { throw error }
            return try CallHeader(frame, nesting: CallHeader.deepest, check: .grammar)
        }
    }

    private func start(_ header: CallHeader, of bytes: Int, at started: Int64) {
        // The peer has closed the connection, and does not wait for the reply.
        guard context != nil || header.isOneway else { return }
        server.statistics.calls += 1
        usage.startCall()
        let entry = server.table.entry(for: header)
        let place = entry?.place ?? server.table.count
        let (id, kind) = calls.open(header, place, bytes: bytes)
        let slot = CallSlot(
            connection: self, id: id, kind: kind, method: place, bytes: UInt32(clamping: bytes),
            started: started)
        server.meters?.start(place)
        guard let entry else {
            if let excess = excessLength(bytes, of: nil) { return refuse(slot, excess) }
            let name = header.escapedMethod ?? String(decoding: header.method, as: UTF8.self)
            return slot.fail(server.router.whyNotFound(name))
        }
        if let denial = entry.authorize?(peer) {
            server.logDenied(entry.name, denial.reason, peer)
            return slot.fail(denial.error)
        }
        switch entry.upgrade {
        case .never where header.wantsUpgrade:
            return slot.fail(VarlinkService.MethodNotImplemented(method: entry.name))
        case .required where !header.wantsUpgrade:
            return slot.fail(VarlinkService.ExpectedUpgrade())
        default: break
        }
        if let excess = excessLength(bytes, of: entry.name) ?? excess(of: bytes) {
            return refuse(slot, excess)
        }
        do throws(JSONError) {
            let parameters = header.parameters ?? CallHeader.noParameters
            if header.check == .grammar { try checkAll(of: parameters) }
            try entry.invoke(parameters, server.limits.nesting, slot)
        } catch {
            server.logger.debug(
                "a call had wrong parameters",
                metadata: [
                    "method": "\(entry.name)", "reason": "\(error)", "peer-uid": "\(peer.uid)",
                    "peer-pid": "\(peer.pid)",
                ])
            slot.fail(VarlinkService.InvalidParameter(parameter: error.path))
        }
    }

    /// Checks what passed by its grammar alone: not each type that parameters are read as finds all that is wrong.
    @inline(never)
    private func checkAll(of parameters: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(parameters, depthLimit: server.limits.nesting)
        try reader.skipValue()
    }

    /// Fails a call without running it; closes the connection if the call is oneway, which has no reply.
    private func refuse(_ slot: CallSlot, _ excess: VarlinkLimitExceeded) {
        slot.fail(excess)
        guard slot.kind == .oneway else { return }
        server.statistics.overflows += 1
        condemn(excess.message, exceeding: (excess.limit, excess.value), afterCalls: true)
    }

    /// Runs each open call's review handler, after roles changed.
    func review() {
        for action in calls.reviews { action() }
    }

    /// A reply was made: it is sent in a turn to come, or the connection is closed because too many wait.
    func settleReply() {
        if bytesQueued > server.limits.queuedBytes {
            server.statistics.overflows += 1
            condemn(
                "more than \(server.limits.queuedBytes) bytes wait for it, and it does not read "
                    + "(limits.queuedBytes)")
        }
        schedule()
    }
}
