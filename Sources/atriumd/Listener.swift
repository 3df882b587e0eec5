import Glibc
import LogMessages
import Logging
import Systemd
import Varlink

/// The sockets on which the daemon listens, and the groups whose members get the role member.
struct Listener: Sendable {
    /// The name of the control socket if systemd passes it: `FileDescriptorName=`.
    static let socketName = "varlink"

    /// The first socket's path, for people.
    let path: String
    /// The groups of systemd's sockets; nil: the daemon creates its own socket.
    private let passedGroups: [UInt32]?
    /// The sockets that systemd created; empty: the daemon creates its own.
    private let sockets: [ListeningSocket]
    private let own: OwnSocket
    /// The group of the daemon's own socket.
    private let group = SocketGroup()

    /// The number of places in the manager's store that its own socket takes.
    var placesInStore: Int { own.placesInStore }

    /// Takes the sockets that systemd created out of what it passed, else uses a socket of the daemon's own at a
    /// path, kept in the manager's store.
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

    /// The groups that own the sockets; blocks while the system's directory is queried.
    @Sendable func groups() -> [UInt32] { passedGroups ?? [group.ask()] }

    /// The groups that own the sockets, as far as they are known.
    var knownGroups: [UInt32] { passedGroups ?? [group.known ?? getegid()] }

    /// Makes a server listen.
    func open(on server: VarlinkServer) async throws {
        if sockets.isEmpty {
            try await server.listen(
                at: .descriptor(own.open(at: path, group: group.known.map { "\($0)" })))
        } else {
            own.dropAll()
            for socket in sockets { try await server.listen(at: .descriptor(socket.number)) }
        }
    }

    /// Sets the group of the daemon's own socket, if it was not known when the socket was opened.
    func giveToGroup() {
        guard passedGroups == nil, let number = group.known else { return }
        own.setGroup("\(number)")
    }

    /// Removes the socket file, if nothing will listen on it.
    func close() { own.close() }

    /// The sockets that listen; the others are closed.
    private static func usable(_ numbers: [Int32], _ logger: Logger) -> [ListeningSocket] {
        numbers.compactMap { number in
            if let socket = ListeningSocket(number) { return socket }
            logger.log(
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
