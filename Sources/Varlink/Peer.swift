internal import Glibc
internal import NIOCore

/// Who is at the other end of a connection, as the kernel tells: its credentials when it connected.
public struct Peer: Sendable, Hashable, CustomStringConvertible {
    /// The user's number.
    public let uid: UInt32

    /// The number of the user's primary group.
    public let gid: UInt32

    /// The process; 0 when it is in another namespace of processes.
    public let pid: Int32

    /// Makes a peer, for tests.
    ///
    /// - Parameters:
    ///   - uid: The user's number.
    ///   - gid: The number of the user's primary group.
    ///   - pid: The process.
    public init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// For logs, such as `uid=1000 gid=1000 pid=4711`.
    public var description: String { "uid=\(uid) gid=\(gid) pid=\(pid)" }

    /// Asks the kernel.
    ///
    /// Completes at once when called on the channel's loop.
    static func atOtherEnd(of channel: any Channel) -> EventLoopFuture<Peer> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let credentials: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return credentials.map { Peer(uid: $0.uid, gid: $0.gid, pid: $0.pid) }
    }
}

/// The kernel's `struct ucred`.
///
/// Ours, since generic code of another module fills it: C's would not be the same type there.
private struct Credentials: Sendable {
    var pid: Int32
    var uid: UInt32
    var gid: UInt32
}
