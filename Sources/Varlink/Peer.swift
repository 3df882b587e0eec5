internal import Glibc
internal import NIOCore

/// The other end of a connection: its credentials when it connected, as the kernel reports them.
public struct Peer: Sendable, Hashable, CustomStringConvertible {
    /// The user's number.
    public let uid: UInt32

    /// The number of the user's primary group.
    public let gid: UInt32

    /// The process; 0 when it is in another namespace of processes.
    public let pid: Int32

    /// The numbers of the process's supplementary groups, without root's.
    public let groups: [UInt32]

    /// The user that the process runs as where that is a subordinate one, which belongs to ``uid``; nil: it
    /// runs as ``uid``.
    public let subordinate: UInt32?

    /// Makes a peer, for tests.
    ///
    /// - Parameters:
    ///   - uid: The user's number.
    ///   - gid: The number of the user's primary group.
    ///   - pid: The process.
    ///   - groups: The numbers of its supplementary groups; none by default.
    public init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32] = []) {
        self.init(uid: uid, gid: gid, pid: pid, groups: groups, subordinate: nil)
    }

    private init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32], subordinate: UInt32?) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.groups = groups
        self.subordinate = subordinate
    }

    /// Returns the peer, accounted to the owner of its subordinate uid.
    ///
    /// - Parameter owner: The owner's uid.
    /// - Returns: The same process, with the owner's uid.
    public func belonging(to owner: UInt32) -> Peer {
        Peer(uid: owner, gid: gid, pid: pid, groups: groups, subordinate: subordinate ?? uid)
    }

    /// A description for logs, such as `uid=1000 gid=1000 pid=4711`.
    public var description: String {
        "uid=\(uid) gid=\(gid) pid=\(pid)" + (subordinate.map { " subordinate=\($0)" } ?? "")
    }

    /// Hashes only what peers seldom share, so that a lookup does not go through all of a peer's groups.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(uid)
        hasher.combine(gid)
        hasher.combine(pid)
    }

    /// Reads the peer's credentials from the kernel.
    ///
    /// It completes at once when called on the channel's loop.
    static func atOtherEnd(of channel: any Channel) -> EventLoopFuture<Peer> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let credentials: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return credentials.and(groups(from: options)).map { credentials, groups in
            Peer(
                uid: credentials.uid, gid: credentials.gid, pid: credentials.pid, groups: groups)
        }
    }

    /// Reads the groups from the kernel, and retries with more room if there are more; empty for a socket without
    /// groups.
    ///
    /// A process in more than 1,024 groups counts as having none: each of its connections would keep them in memory,
    /// and a user who may map groups (`newgidmap`) can be in 65,536.
    private static func groups(
        from options: any SocketOptionProvider
    ) -> EventLoopFuture<[UInt32]> {
        groups(within: InlineArray<64, UInt32>.self, from: options)
            .flatMapError { _ in groups(within: InlineArray<1_024, UInt32>.self, from: options) }
            .recover { _ in [] }
    }

    /// Reads the peer's groups; fails if there is no room for all of them.
    ///
    /// Unused room is zero, as SwiftNIO allocates it. Root's group is zero too, and is left out.
    private static func groups<let count: Int>(
        within room: InlineArray<count, UInt32>.Type, from options: any SocketOptionProvider
    ) -> EventLoopFuture<[UInt32]> {
        let numbers: EventLoopFuture<InlineArray<count, UInt32>> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERGROUPS))
        return numbers.map { numbers in
            numbers.indices.map { numbers[$0] }.filter { $0 != 0 }
        }
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
