import Glibc
import LogMessages
import Logging
import Systemd
import Varlink

/// Where the daemon listens, and the groups whose members may vote there.
struct Listener: Sendable {
    /// What the control socket is called where systemd passes it: `FileDescriptorName=`.
    static let socketName = "varlink"

    /// The first socket's path, for people.
    let path: String
    /// The groups that sockets of systemd's belong to; nil: we make one.
    private let passedGroups: [UInt32]?
    /// Sockets that systemd made; none: we make one.
    private let sockets: [ListeningSocket]
    private let own: OwnSocket
    /// The group of one that we make.
    private let group = SocketGroup()

    /// How many places of systemd's store for descriptors are taken by it.
    var placesInStore: Int { own.placesInStore }

    /// The sockets that systemd made for us, else a path of our own.
    ///
    /// - Parameters:
    ///   - passed: what systemd passed; ours are taken out of it.
    ///   - path: the path of our own.
    ///   - store: where our own socket is kept from one process to the next; nil: nowhere.
    ///   - logger: told of sockets that are no good.
    /// - Throws: `DaemonError`.
    init(
        taking passed: inout PassedDescriptors, or path: String, keptIn store: DescriptorStore?,
        logger: Logger
    ) throws(DaemonError) {
        own = OwnSocket(taking: &passed, in: store, logger: logger)
        let numbers = passed.take(named: Self.socketName)
        sockets = Self.usable(numbers, logger)
        if let first = sockets.first {
            passedGroups = sockets.compactMap(\.group)
            self.path = first.path
            return
        }
        guard numbers.isEmpty else {
            throw DaemonError(
                "systemd passed no Unix socket to listen on: check ListenStream= in the socket unit"
            )
        }
        self.path = path
        passedGroups = nil
        let folder = path.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast().joined(separator: "/")
        try Directories.make(folder.isEmpty ? "." : folder, mode: 0o755)
    }

    /// The groups that sockets belong to; blocks, for as long as the system's directory takes.
    @Sendable func groups() -> [UInt32] { passedGroups ?? [group.ask()] }

    /// The groups that sockets belong to, as far as it is known by now.
    var knownGroups: [UInt32] { passedGroups ?? [group.known ?? getegid()] }

    /// Has a server listen.
    ///
    /// - Throws: what keeps it from that: `VarlinkBindError`, or what the system says.
    func open(on server: VarlinkServer) async throws {
        if sockets.isEmpty {
            try await server.listen(
                at: .descriptor(own.open(at: path, group: group.known.map { "\($0)" })))
        } else {
            own.dropAll()
            for socket in sockets { try await server.listen(at: .descriptor(socket.number)) }
        }
    }

    /// Gives a socket of ours to its group, where that was not known when it was opened.
    func giveToGroup() {
        guard passedGroups == nil, let number = group.known else { return }
        own.give(toGroup: "\(number)")
    }

    /// Removes what nobody listens on any more.
    func close() { own.close() }

    /// Those that listen; the others are closed.
    private static func usable(_ numbers: [Int32], _ logger: Logger) -> [ListeningSocket] {
        numbers.compactMap { number in
            if let socket = ListeningSocket(number) { return socket }
            logger.tell(
                .descriptorUnused,
                [
                    "name": "\(socketName)",
                    "reason":
                        "it is no Unix stream socket that listens; ListenStream= names a path",
                ])
            Glibc.close(number)
            return nil
        }
    }
}
