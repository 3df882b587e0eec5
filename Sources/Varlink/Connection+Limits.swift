internal import JSONCodec
internal import LogMessages
internal import NIOCore

extension Connection {
    /// The resources that a connection uses, and its progress.
    struct Usage {
        /// Calls that were started.
        private(set) var calls = 0

        /// Whether the peer has ended its part while something else was going on.
        private(set) var hasInputEnded = false

        /// The number of bytes written to the channel since it was last asked how many wait.
        private(set) var unmeasured = 0

        /// The bytes that the server had sent in all when it last sent some here; orders connections by their last use.
        private(set) var lastUse = 0

        /// The number of bytes that its user is charged with for it.
        private(set) var charged = 0

        /// The value of ``calls`` at the last sweep, and the number of sweeps since it changed.
        private var callsSwept = 0
        private var idleSweeps = 0

        mutating func startCall() { calls += 1 }

        /// Sets the number of calls started by the previous process.
        mutating func restore(calls: Int) {
            self.calls = calls
            callsSwept = calls
        }

        mutating func endInput() { hasInputEnded = true }

        /// Records that bytes were written to the channel; `total` is the number that the server has sent in all.
        mutating func send(_ bytes: Int, ofAll total: Int) {
            unmeasured += bytes
            lastUse = total
        }

        /// Records that the channel was asked how many bytes wait.
        mutating func measure() { unmeasured = 0 }

        /// Sets the bytes that its user is charged with for it.
        ///
        /// - Returns: The increase.
        mutating func charge(_ bytes: Int) -> Int {
            defer { charged = bytes }
            return bytes - charged
        }

        /// Notes a sweep at which nothing was to be expected of the peer.
        mutating func beBusy() { idleSweeps = 0 }

        /// Notes a sweep.
        ///
        /// - Parameter isWaitedFor: Whether the peer is to make a call, or to end one.
        /// - Returns: For how many sweeps it has not.
        mutating func sweep(isWaitedFor: Bool) -> Int {
            let isIdle = isWaitedFor && calls == callsSwept
            callsSwept = calls
            idleSweeps = isIdle ? idleSweeps + 1 : 0
            return idleSweeps
        }
    }

    /// The reason why a connection is to be closed, and the error for its peer if the protocol allows one.
    struct Condemnation {
        let reason: String
        let error: VarlinkLimitExceeded?
    }

    /// The bytes of a connection up to which its user is not charged, for calls and in total.
    private static var unnoticed: Int { 16 << 10 }

    /// The maximum memory of a call in progress, as a multiple of its frame: its parameters as values, the entry that
    /// is made of them, and the notifications of it.
    static var copies: Int { 4 }

    /// The number of bytes of the calls in progress.
    private var callBytes: Int { replies.callBytes + silentCalls.bytes }

    /// Whether the calls under way leave room for another one.
    ///
    /// A connection with next to nothing under way may always start a call, so that it does not wait for other
    /// connections of its user.
    var hasRoomForCalls: Bool {
        let bytes = callBytes
        guard bytes > Self.unnoticed else { return true }
        return bytes < server.limits.callBytes
            && server.accounts.bytes(of: peer.uid) < server.limits.bytesPerUser / 2
    }

    /// Returns the error for the last call, of this many bytes, if its user's connections have no room for it; nil:
    /// there is room.
    ///
    /// The call was not processed yet, so its caller may safely make it again.
    func excess(of bytes: Int) -> VarlinkLimitExceeded? {
        let calls = callBytes * Self.copies
        guard calls > Self.unnoticed else { return nil }
        let limit = server.limits.bytesPerUser
        let others = server.accounts.bytes(of: peer.uid) - usage.charged
        let total = others + calls + frames.count + bytesQueued
        guard total > limit else { return nil }
        let room =
            bytes * Self.copies > limit
            ? "send less at once" : "try again when other calls have ended"
        return VarlinkLimitExceeded(
            limit: "bytesPerUser", value: limit,
            message:
                "a call of \(bytes) bytes was not carried out: with it (counted \(Self.copies) times) "
                + "the connections of uid \(peer.uid) would keep \(total) bytes in memory, more than the "
                + "\(limit) of a user (limits.bytesPerUser): \(room)")
    }

    /// The number of bytes that wait to be sent.
    var bytesQueued: Int {
        var bytes = replies.ready.readableBytes + replies.heldBytes
        if !isChannelWritable { bytes += bytesInChannel }
        return bytes
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
        let calls = callBytes * Self.copies
        let mostBytes = max(frames.count, usage.unmeasured, replies.heldBytes, calls)
        guard mostBytes > Self.unnoticed || usage.charged > 0 else { return }
        let out = replies.ready.readableBytes + replies.heldBytes + bytesInChannel
        // What waits already is looked at again when as much has been added.
        usage.measure()
        let bytes = frames.count + out + calls
        let isLess = bytes < usage.charged
        let total = charge(bytes > Self.unnoticed ? bytes : 0)
        guard total > server.limits.bytesPerUser, !isLess,
            max(frames.count, out) > Self.unnoticed
        else { return }
        server.statistics.overflows += 1
        condemn(
            "the connections of uid \(peer.uid) keep \(total) bytes in memory, more than the "
                + "\(server.limits.bytesPerUser) of a user (limits.bytesPerUser)",
            exceeding: (limit: "bytesPerUser", value: server.limits.bytesPerUser),
            // A peer that reads receives the replies to the calls that it has made.
            afterCalls: out <= Self.unnoticed)
    }

    /// Charges the user with the calls under way and nothing else: the connection has ended, and they
    /// have not.
    func chargeForCallsAlone() { _ = charge(callBytes * Self.copies) }

    private func charge(_ bytes: Int) -> Int {
        if bytes > 0 { server.scheduleSweep() }
        return server.accounts.charge(usage.charge(bytes), to: peer.uid)
    }

    /// Whether time changes anything about it: one that waits in silence costs nothing.
    var needsSweep: Bool {
        usage.charged > 0
            || (server.limits.handshake != nil && (usage.calls == 0 || frames.count > 0))
    }

    /// Closes a connection that has made no call, or not completed a message, for `patience` sweeps.
    func sweep(patience: Int) {
        if usage.charged > 0 { measure() }
        switch state {
        case .open where canStartCalls: break
        default: return usage.beBusy()
        }
        let isWaitedFor = usage.calls == 0 || frames.count > 0
        guard usage.sweep(isWaitedFor: isWaitedFor) > patience, let time = server.limits.handshake
        else { return }
        server.statistics.timeouts += 1
        let what = frames.count > 0 ? "a call was begun and not ended" : "no call was made"
        condemn(
            "\(what) within \(time) (limits.handshake)",
            exceeding: frames.count > 0
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
        switch state {
        case .open, .halfClosed, .stopping, .upgrading, .ending, .closing:
            let error = limit.map {
                VarlinkLimitExceeded(limit: $0.limit, value: $0.value, message: reason)
            }
            let condemnation = Condemnation(reason: reason, error: error)
            if afterCalls, takesAnswers, !isAnswered {
                frames.removeAll()
                state = .ending(condemnation)
            } else {
                state = .condemned(condemnation)
            }
            schedule()
        case .upgraded, .condemned, .closed: break
        }
    }

    /// Logs the reason, sends it to the peer if no earlier call waits for a reply, and closes.
    func carryOut(_ condemnation: Condemnation) {
        explain(condemnation)
        flush()
        closeNow()
    }

    /// Logs the reason, and sends it to the peer if no earlier call waits for a reply.
    func explain(_ condemnation: Condemnation) {
        server.log(.connectionClosed, condemnation.reason, peer)
        guard let error = condemnation.error, replies.count == 0 else { return }
        var writer = JSONWriter()
        writer.writeError(VarlinkLimitExceeded.name, error)
        writer.bytes.append(0)
        replies.ready.writeBytes(writer.bytes)
    }
}

// MARK: - Another protocol

extension Connection {
    /// Passes the connection to another protocol, with the bytes that came after the last call; all calls are answered
    /// by now.
    func upgrade(_ then: @Sendable (VarlinkRawConnection) -> Void) {
        guard let context else { return }
        let pipe = RawPipe(context.channel, startingWith: frames.takeAll())
        if usage.hasInputEnded { pipe.end() }
        state = .upgraded(pipe)
        server.statistics.upgrades += 1
        then(VarlinkRawConnection(pipe))
        if isReadHeld, pipe.wantsBytes {
            isReadHeld = false
            context.read()
        }
    }
}
