/// What a peer may use up.
///
/// Whoever exceeds a limit is no longer read from, or closed; never others.
public struct VarlinkLimits: Sendable, Hashable {
    /// Bytes in one message, without its NUL.
    ///
    /// Default: 16 MiB. Beyond it the connection is closed.
    public var frameBytes = 16 << 20

    /// How deep a call's parameters may nest.
    ///
    /// Default: 64. Beyond it the connection is closed.
    public var nesting = 64

    /// Connections at once, in all.
    ///
    /// Default: 10,000. Further ones are closed as they come.
    public var connections = 10_000

    /// Calls under way at once on a connection.
    ///
    /// Default: 1,024. Later ones wait unread.
    public var callsInFlight = 1_024

    /// Bytes queued out on a connection before it stops being writable: no further call of it is
    /// started, and ``VarlinkCall/isWritable`` is false.
    ///
    /// Default: 1 MiB.
    public var writableBytes = 1 << 20

    /// Bytes queued out at which a connection is closed: only reached by who does not ask
    /// ``VarlinkCall/isWritable``.
    ///
    /// Default: 64 MiB.
    public var queuedBytes = 64 << 20

    /// The defaults.
    public init() {}
}
