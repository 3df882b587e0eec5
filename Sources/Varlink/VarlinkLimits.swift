internal import Glibc

/// The limits of what a peer may use.
///
/// A peer that exceeds a limit is no longer read from, or is refused or closed; other peers are not affected. If the
/// protocol allows a reply, the peer is sent ``VarlinkLimitExceeded``. The peer and the reason are logged.
public struct VarlinkLimits: Sendable, Hashable {
    /// Bytes in one message, without its NUL.
    ///
    /// Default: 16 MiB. Beyond it the connection is closed.
    public var frameBytes = 16 << 20

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

    /// Bytes that one user's connections may keep in the server's memory, by uid: parts of messages that
    /// are not complete, calls under way, and replies that were not read.
    ///
    /// Default: 512 MiB. From half of it on, a connection starts a call once its earlier ones have ended.
    /// A call that would go beyond it is not carried out: it fails with ``VarlinkLimitExceeded``, and its
    /// connection goes on. A connection that goes beyond it by a message that is not complete is closed
    /// once its calls under way are answered, one by replies that are not read at once; further ones are
    /// refused as they come. A call counts four times its bytes, which is what a service makes of it at
    /// most, until it has ended, also after its connection has. Counted roughly: less than 16 KiB of a
    /// connection, each way, go unnoticed.
    public var bytesPerUser = 512 << 20

    /// Calls under way at once on a connection.
    ///
    /// Default: 1,024. Later ones wait unread.
    public var callsInFlight = 1_024

    /// Bytes of the calls under way on a connection, beyond which later ones wait unread.
    ///
    /// Default: 4 MiB. A call that is longer is started once the others have ended.
    public var callBytes = 4 << 20

    /// Bytes queued out on a connection before it stops being writable.
    ///
    /// Default: 1 MiB. Beyond it no further call of the connection is started, and
    /// ``VarlinkCall/isWritable`` is false; a client's calls wait.
    public var writableBytes = 1 << 20

    /// Bytes queued out at which a connection is closed: only reached by handlers that do not ask
    /// ``VarlinkCall/isWritable``, and by a client's calls that can't wait.
    ///
    /// Default: 64 MiB.
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
}
