internal import Logging
internal import NIOCore

// MARK: - Turns

extension Connection {
    /// Asks for a turn, after whatever runs now has returned.
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

    /// Goes on with calls that were put off for others.
    func goOn() {
        isPutOff = false
        takeTurn()
        if context == nil, !isPutOff { end() }
    }

    /// The channel is gone.
    ///
    /// Calls that were put off are still started: they were made, though their replies go nowhere.
    func leave() {
        context = nil
        switch state {
        case .open where isPutOff, .halfClosed where isPutOff: break
        default: end()
        }
    }

    /// No further call is started.
    ///
    /// Those under way are answered, streams are cut, then it closes.
    func stop() {
        switch state {
        case .open, .halfClosed:
            state = .stopping
            schedule()
        case .upgrading, .upgraded: closeNow()
        case .stopping, .ending, .condemned, .closing, .closed: break
        }
    }

    /// Closes without further ado.
    ///
    /// Not to be called inside of a handler.
    func closeNow() {
        guard let context else { return end() }
        context.shutAndClose()
    }

    /// Closes the descriptor alone: the connection goes on with a copy of it, elsewhere.
    func letGo() {
        context?.close(promise: nil)
    }

    var isWritable: Bool {
        let waiting = replies.ready.readableBytes + replies.heldBytes
        return isChannelWritable && server.handover != .frozen
            && waiting < server.limits.writableBytes
    }

    /// Whether what calls are answered with can still reach the peer.
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

    func finishTurn() {
        flush()
        switch state {
        case .condemned(let condemnation): return carryOut(condemnation)
        case .halfClosed
        where replies.count + silentCalls.count == 0 && isWritable && !hasToGoOn && !isPutOff:
            // What it may never read is charged to its user until it has gone.
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
