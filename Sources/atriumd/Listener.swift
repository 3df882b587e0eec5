import Glibc
import LogMessages
import Logging
import Systemd
import Varlink

/// Where the daemon listens, and the groups whose members may vote there.
struct Listener: Sendable {
    /// What the control socket is called where systemd passes it: `FileDescriptorName=`.
    static let socketName = "varlink"

    /// At least one.
    let addresses: [VarlinkServer.Address]
    /// The first one's path, for people.
    let path: String
    /// The groups that sockets belong to.
    let groups: [UInt32]

    /// The sockets that systemd made for us, else a path of our own.
    ///
    /// - Parameters:
    ///   - passed: what systemd passed; ours are taken out of it.
    ///   - path: the path of our own.
    ///   - logger: told of sockets that are no good.
    /// - Throws: `DaemonError`.
    init(
        taking passed: inout PassedDescriptors, or path: String, logger: Logger
    ) throws(DaemonError) {
        let numbers = passed.take(named: Self.socketName)
        let sockets = numbers.compactMap(ListeningSocket.init)
        for number in numbers where !sockets.contains(where: { $0.number == number }) {
            logger.tell(
                .descriptorUnused,
                [
                    "name": "\(Self.socketName)",
                    "reason":
                        "it is no Unix stream socket that listens; ListenStream= names a path",
                ])
            close(number)
        }
        if let first = sockets.first {
            addresses = sockets.map { .descriptor($0.number) }
            groups = sockets.compactMap(\.group)
            self.path = first.path
            return
        }
        guard numbers.isEmpty else {
            throw DaemonError(
                "systemd passed no Unix socket to listen on: check ListenStream= in the socket unit"
            )
        }
        self.path = path
        let folder = path.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast().joined(separator: "/")
        try Directories.make(folder.isEmpty ? "." : folder, mode: 0o755)
        if let group = getgrnam("atrium"), Self.isMember(of: group.pointee.gr_gid) {
            addresses = [.path(path, group: "atrium")]
            groups = [group.pointee.gr_gid]
        } else {
            addresses = [.path(path)]
            groups = [getegid()]
        }
    }

    private static func isMember(of group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: 1_024)
        let count = getgroups(Int32(groups.count), &groups)
        return ownUser == 0 || getegid() == group
            || groups.prefix(Int(max(0, count))).contains(group)
    }
}
