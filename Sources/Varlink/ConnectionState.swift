/// The state machine of a connection: from open to closed, and what it does on the way.
struct ConnectionState {
    enum Phase {
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

    private(set) var phase = Phase.open

    /// Whether calls of the peer may be started.
    var takesCalls: Bool {
        switch phase {
        case .open, .halfClosed: return true
        case .stopping, .upgrading, .upgraded, .ending, .condemned, .closing, .closed: return false
        }
    }

    /// Whether replies can still reach the peer.
    var takesReplies: Bool {
        switch phase {
        case .open, .halfClosed, .stopping, .upgrading, .ending: true
        case .upgraded, .condemned, .closing, .closed: false
        }
    }

    var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    /// The peer has shut down its sending side.
    mutating func endInput() {
        if case .open = phase { phase = .halfClosed }
    }

    /// No further call is to be started.
    mutating func stop() {
        if takesCalls { phase = .stopping }
    }

    /// A call was replied to with an upgrade; does nothing if the connection is about to close.
    mutating func upgrade(_ then: @escaping @Sendable (VarlinkRawConnection) -> Void) {
        if takesCalls { phase = .upgrading(then) }
    }

    /// All calls are answered before an upgrade.
    mutating func finishUpgrade(_ pipe: RawPipe) {
        if case .upgrading = phase { phase = .upgraded(pipe) }
    }

    /// The connection is to be closed for an error of its peer, maybe after the calls in progress; returns false if
    /// that changes nothing: it is closed already, say, or speaks another protocol.
    mutating func condemn(_ condemnation: Condemnation, afterCalls: Bool) -> Bool {
        switch phase {
        case .open, .halfClosed, .stopping, .upgrading, .ending, .closing:
            phase = afterCalls && takesReplies ? .ending(condemnation) : .condemned(condemnation)
            return true
        case .upgraded, .condemned, .closed: return false
        }
    }

    /// The last bytes are passed to the channel.
    mutating func close() { phase = .closing }

    /// The channel has closed.
    mutating func end() { phase = .closed }
}

/// The reason why a connection is to be closed, and the error for its peer if the protocol allows one.
struct Condemnation {
    let reason: String
    let error: VarlinkLimitExceeded?

    /// - Parameters:
    ///   - reason: The reason, for the log, and for the peer if a limit is named.
    ///   - limit: The limit whose name and value are sent to the peer; nil: none.
    init(_ reason: String, exceeding limit: (limit: String, value: Int)?) {
        self.reason = reason
        error = limit.map {
            VarlinkLimitExceeded(limit: $0.limit, value: $0.value, message: reason)
        }
    }
}
