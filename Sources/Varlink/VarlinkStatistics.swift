/// The counters of a server, since it was made.
public struct VarlinkStatistics: Sendable, Hashable {
    /// Connections that are open now.
    public internal(set) var connections = 0

    /// Connections that were ever accepted.
    public internal(set) var acceptedConnections = 0

    /// Connections that were refused as they came, because there were too many.
    public internal(set) var refusedConnections = 0

    /// Calls that were understood, those of unknown methods included.
    public internal(set) var calls = 0

    /// Calls that were answered with an error, or would have been if they were not `oneway`.
    public internal(set) var errors = 0

    /// The number of connections that were closed for a message without a well-defined reply, by violation.
    public internal(set) var violations: [VarlinkViolation: Int] = [:]

    /// Connections that were closed because too much was queued for them, or kept for their user.
    public internal(set) var overflows = 0

    /// Connections that were closed because they took too long for a call.
    public internal(set) var timeouts = 0

    /// Connections that were upgraded to another protocol.
    public internal(set) var upgrades = 0

    /// The number of bytes received.
    public internal(set) var bytesIn = 0

    /// The number of bytes written to the kernel or queued for it.
    public internal(set) var bytesOut = 0

    /// Calls that are not answered in full at this moment.
    public internal(set) var callsInFlight = 0

    /// The number of bytes of replies that wait to be sent at this moment.
    public internal(set) var bytesQueued = 0

    /// The number of bytes that users are charged with at this moment; see ``VarlinkLimits/bytesPerUser``.
    public internal(set) var bytesCharged = 0

    /// The counters of a new server.
    public init() {}
}

/// The violations of the protocol for which a connection is closed.
public enum VarlinkViolation: String, Sendable, Hashable, CaseIterable {
    /// The message is longer than ``VarlinkLimits/frameBytes``.
    case messageTooLong
    /// The message is no JSON object in UTF-8, or nests too deep, or a member has the wrong type.
    case malformed
    /// The message has a member that the protocol does not know, and whose name has no vendor.
    case unknownMember
    /// The call names no method.
    case missingMethod
    /// `oneway`, `more` or `upgrade` is neither true nor false.
    case flagNotBoolean
    /// More than one of `oneway`, `more` and `upgrade` is true.
    case severalFlags
    /// The message is a reply to no call; only clients receive such messages.
    case unexpectedReply
}
