/// What a server has seen since it was made.
public struct VarlinkStatistics: Sendable, Hashable {
    /// Connections that are open now.
    public internal(set) var connections = 0

    /// Connections that were ever accepted.
    public internal(set) var acceptedConnections = 0

    /// Connections that were closed as they came, because there were too many.
    public internal(set) var refusedConnections = 0

    /// Calls that were understood, those of unknown methods included.
    public internal(set) var calls = 0

    /// Calls that were answered with an error, or would have been if they were not `oneway`.
    public internal(set) var errors = 0

    /// Connections that were closed for a message without a well-defined reply.
    public internal(set) var protocolViolations = 0

    /// Connections that were closed because too much was queued for them.
    public internal(set) var overflows = 0

    /// Bytes received.
    public internal(set) var bytesIn = 0

    /// Bytes handed to the kernel or queued for it.
    public internal(set) var bytesOut = 0

    /// What a server has seen that was just made.
    public init() {}
}
