internal import JSONCodec
internal import LogMessages
internal import NIOCore

extension Connection {
    /// Whether the calls under way leave room for another one.
    ///
    /// A connection with next to nothing under way may always start a call, so that it does not wait for other
    /// connections of its user.
    var hasRoomForCalls: Bool {
        let bytes = calls.bytes
        guard bytes > ConnectionUsage.unnoticed else { return true }
        return bytes < server.limits.callBytes
            && server.accounts.bytes(of: peer.uid) < server.limits.bytesPerUser / 2
    }

    /// Compares the length of a call with what its method takes, which none of an unknown name limits; returns the
    /// error if it is too long.
    @inline(__always)
    func excessLength(_ bytes: Int, of method: String?) -> VarlinkLimitExceeded? {
        bytes > server.unhurriedBytes ? excessOfLong(bytes, of: method) : nil
    }

    @inline(never)
    private func excessOfLong(_ bytes: Int, of method: String?) -> VarlinkLimitExceeded? {
        let most = method.map(server.limits.bytes) ?? server.unhurriedBytes
        guard bytes > most else { return nil }
        return VarlinkLimitExceeded(
            limit: "methodBytes", value: most,
            message: "a call of \(bytes) bytes was not carried out: one of "
                + "\(method ?? "a method that there is not") has \(most) bytes at most "
                + "(methodBytes): send less at once")
    }

    /// Returns the error for the last call, of this many bytes, if its user's connections have no room for it; nil:
    /// there is room.
    ///
    /// The call was not processed yet, so its caller may safely make it again.
    func excess(of bytes: Int) -> VarlinkLimitExceeded? {
        guard calls.memory > ConnectionUsage.unnoticed else { return nil }
        let limit = server.limits.bytesPerUser
        let others = server.accounts.bytes(of: peer.uid) - usage.charged
        let total = others + calls.memory + input.frames.count + bytesQueued
        guard total > limit else { return nil }
        let room =
            bytes * CallsUnderWay.copies > limit
            ? "send less at once" : "try again when other calls have ended"
        return VarlinkLimitExceeded(
            limit: "bytesPerUser", value: limit,
            message:
                "a call of \(bytes) bytes was not carried out: with it (counted \(CallsUnderWay.copies) times) "
                + "the connections of uid \(peer.uid) would keep \(total) bytes in memory, more than the "
                + "\(limit) of a user (limits.bytesPerUser): \(room)")
    }

    /// The number of bytes that wait to be sent.
    var bytesQueued: Int {
        calls.replies.waitingBytes + (isChannelWritable ? 0 : bytesInChannel)
    }

    var bytesInChannel: Int {
        guard let options = context?.channel.syncOptions else { return 0 }
        return (try? options.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Charges the user for the memory of the connection; closes the connection if the user then has more than the
    /// limit, because of an incomplete message or of unread replies.
    ///
    /// Calls alone never close it: a call without room is refused before it is processed. The memory is only measured
    /// when much has changed, so that small calls cost nothing.
    func measure() {
        let unnoticed = ConnectionUsage.unnoticed
        let (input, memory) = (input.frames.count, calls.memory)
        let mostBytes = max(input, usage.unmeasured, calls.replies.heldBytes, memory)
        guard mostBytes > unnoticed || usage.charged > 0 else { return }
        let output = calls.replies.waitingBytes + bytesInChannel
        // What waits already is looked at again when as much has been added.
        usage.measure()
        let bytes = input + output + memory
        let isLess = bytes < usage.charged
        let total = charge(bytes > unnoticed ? bytes : 0)
        guard total > server.limits.bytesPerUser, !isLess, max(input, output) > unnoticed
        else { return }
        server.statistics.overflows += 1
        condemn(
            "the connections of uid \(peer.uid) keep \(total) bytes in memory, more than the "
                + "\(server.limits.bytesPerUser) of a user (limits.bytesPerUser)",
            exceeding: (limit: "bytesPerUser", value: server.limits.bytesPerUser),
            // A peer that reads receives the replies to the calls that it has made.
            afterCalls: output <= unnoticed)
    }

    /// Charges the user with so many bytes for the connection; returns the bytes that the user is charged with in
    /// all.
    func charge(_ bytes: Int) -> Int {
        if bytes > 0 { server.scheduleSweep() }
        return server.accounts.charge(usage.charge(bytes), to: peer.uid)
    }

    /// Whether time changes anything about it: one that waits in silence costs nothing.
    var needsSweep: Bool {
        usage.charged > 0
            || (server.limits.handshake != nil && (usage.calls == 0 || input.frames.count > 0))
    }

    /// Closes a connection that has made no call, or not completed a message, for `patience` sweeps.
    func sweep(patience: Int) {
        if usage.charged > 0 { measure() }
        guard case .open = state.phase, canStartCalls else { return usage.beBusy() }
        let hasBegun = input.frames.count > 0
        let isWaitedFor = usage.calls == 0 || hasBegun
        guard usage.sweep(isWaitedFor: isWaitedFor) > patience, let time = server.limits.handshake
        else { return }
        server.statistics.timeouts += 1
        let what = hasBegun ? "a call was begun and not ended" : "no call was made"
        condemn(
            "\(what) within \(time) (limits.handshake)",
            exceeding: hasBegun
                ? (limit: "handshake", value: Int(time.components.seconds)) : nil)
    }
}

// MARK: - Closing what is wrong

extension Connection {
    /// Closes in its next turn, because of a message.
    func condemn(for violation: ProtocolViolation) {
        server.statistics.violations[violation.kind, default: 0] += 1
        if case .frameTooLong(let limit) = violation {
            condemn("\(violation)", exceeding: (limit: "frameBytes", value: limit))
        } else {
            condemn("\(violation)")
        }
    }

    /// Marks the connection to be closed in its next turn, for an error of its peer.
    ///
    /// - Parameters:
    ///   - reason: The reason, for the log, and for the peer if a limit is named.
    ///   - limit: The limit whose name and value are sent to the peer; nil: none.
    ///   - afterCalls: Whether calls in progress are replied to first; bytes that came after them are dropped.
    func condemn(
        _ reason: String, exceeding limit: (limit: String, value: Int)? = nil,
        afterCalls: Bool = false
    ) {
        let condemnation = Condemnation(reason, exceeding: limit)
        guard state.condemn(condemnation, afterCalls: afterCalls && !calls.areAnswered) else {
            return
        }
        if case .ending = state.phase { input.frames.removeAll() }
        schedule()
    }

    /// Logs the reason, and sends it to the peer if no earlier call waits for a reply.
    func explain(_ condemnation: Condemnation) {
        server.log(.connectionClosed, condemnation.reason, peer)
        guard let error = condemnation.error, calls.replies.count == 0 else { return }
        var writer = JSONWriter()
        writer.writeError(VarlinkLimitExceeded.name, error)
        writer.endMessage()
        calls.replies.append(last: writer.bytes)
    }
}

// MARK: - Another protocol

extension Connection {
    /// Passes the connection to another protocol, with the bytes that came after the last call; all calls are answered
    /// by now.
    func upgrade(_ then: @Sendable (VarlinkRawConnection) -> Void) {
        guard let context else { return }
        let pipe = RawPipe(context.channel, startingWith: input.frames.takeAll())
        if input.hasEnded { pipe.end() }
        state.finishUpgrade(pipe)
        server.statistics.upgrades += 1
        then(VarlinkRawConnection(pipe))
        if input.isReadHeld, pipe.wantsBytes {
            input.releaseRead()
            context.read()
        }
    }
}
