internal import Glibc

/// The limits of what a peer may use.
///
/// A peer that exceeds a limit is no longer read from, or is refused or closed; other peers are not affected. If the
/// protocol allows a reply, the peer is sent ``VarlinkLimitExceeded``. The peer and the reason are logged.
public struct VarlinkLimits: Sendable, Hashable {
    /// The maximum number of bytes in one message, without its NUL.
    ///
    /// Default: 16 MiB. Beyond it the connection is closed.
    public var frameBytes = 16 << 20

    /// The maximum number of bytes in the message of a call, by the method's full name; ``frameBytes`` for others.
    ///
    /// Default: none. A longer call fails with ``VarlinkLimitExceeded`` before its parameters are read, which takes a
    /// thousand times longer than receiving them if they consist of many members. Its connection stays open, except
    /// after a oneway call.
    public var methodBytes: [String: Int] = [:]

    /// The maximum depth of a call's parameters.
    ///
    /// Default: 64. Beyond it the connection is closed.
    public var nesting = 64

    /// Connections at once, in all.
    ///
    /// Default: 10,000. Further ones are refused as they come. A connection is a descriptor: where the
    /// process may have but few of them (`RLIMIT_NOFILE`), an eighth is kept for other purposes, at
    /// least 64, and there are no more connections than the others; of one user, half of that.
    public var connections = 10_000

    /// Connections at once of one user, by uid.
    ///
    /// Default: 5,000, so that no user can keep all others out. Further ones are refused as they come.
    public var connectionsPerUser = 5_000

    /// The uids of users to whom ``connectionsPerUser`` does not apply.
    ///
    /// Default: root, and the server's own user.
    public var unlimitedUsers: Set<UInt32> = [0, geteuid()]

    /// The maximum number of bytes that the connections of one user, by uid, may keep in the server's memory:
    /// incomplete messages, calls in progress, and replies that were not read.
    ///
    /// Default: 512 MiB. From half of it on, a connection starts a call only once its earlier ones have ended. A call
    /// that would exceed it is not processed: it fails with ``VarlinkLimitExceeded``, and its connection stays open. A
    /// connection that exceeds it by an incomplete message is closed once its calls in progress are replied to; one
    /// that exceeds it by unread replies is closed at once; further connections are refused. A call counts four times
    /// its bytes, the most that a service makes of it, until it has ended, even if its connection has ended before. The
    /// measurement is approximate: less than 16 KiB of a connection, each way, are not counted.
    public var bytesPerUser = 512 << 20

    /// Calls under way at once on a connection.
    ///
    /// Default: 1,024. Later ones wait unread.
    public var callsInFlight = 1_024

    /// The number of bytes of the calls in progress on a connection beyond which later calls wait unread.
    ///
    /// Default: 4 MiB. A longer call is started once the others have ended.
    public var callBytes = 4 << 20

    /// The number of bytes that wait to be sent on a connection from which on it is not writable.
    ///
    /// Default: 1 MiB. Beyond it no further call of the connection is started, and ``VarlinkCall/isWritable`` is false;
    /// a client's calls wait.
    public var writableBytes = 1 << 20

    /// The number of bytes that wait to be sent on a connection from which on it is closed.
    ///
    /// Default: 64 MiB. It is only reached by handlers that do not check ``VarlinkCall/isWritable``, and by a client's
    /// calls that can't wait.
    public var queuedBytes = 64 << 20

    /// The time that a peer may take for its first call, and for a message once it has begun it; nil: no limit.
    ///
    /// Default: 60 s, and up to a quarter more. Beyond it the connection is closed. A connection that has made a call
    /// and is now silent stays open. Time in which the server does not read does not count.
    public var handshake: Duration? = .seconds(60)

    /// Lines a minute that are logged for one user's closed and refused connections.
    ///
    /// Default: 10. Further ones are counted, and summed up in one line.
    public var logLines = 10

    /// The number of descriptors that the process is assumed to have, for tests; nil: as many as the system says.
    var assumedDescriptors: Int?

    /// The time for which calls are started, and turns of connections taken, before the event loop polls for other
    /// events; for tests.
    var startTime = Duration.milliseconds(10)

    /// The defaults.
    public init() {}

    /// The maximum number of bytes in the message of a call of this method.
    func bytes(ofCallsOf method: String) -> Int { methodBytes[method] ?? frameBytes }
}
