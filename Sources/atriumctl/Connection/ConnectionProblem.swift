import Glibc
import Varlink

/// Failures of the connection, in sentences.
enum ConnectionProblem {
    /// The sentence and the hint for an error of the connection.
    static func explain(_ error: any Error, socket: String) -> CommandFailure {
        guard let error = error as? VarlinkConnectionError else {
            return CommandFailure("\(error)")
        }
        let isOurs = isOurs(socket)
        switch error.kind {
        case .notFound, .refused:
            return CommandFailure(
                error.description, hint: isOurs ? notRunning(socket) : nil, status: .unreachable)
        case .accessDenied:
            return CommandFailure(
                "\(error.description)", hint: howToJoin(socket), status: .unreachable)
        case .closed:
            return CommandFailure(
                "the \(service(at: socket)) closed the connection before it had answered",
                hint: isOurs ? seeLog(socket) : nil, status: .unreachable)
        case .timedOut:
            return CommandFailure(
                error.description, hint: isOurs ? notRunning(socket) : nil, status: .unreachable)
        case .protocolViolation:
            return CommandFailure(
                error.description,
                hint: "is another program listening at \(socket)?", status: .unreachable)
        case .upgraded, .overflow, .other:
            return CommandFailure(error.description, status: .unreachable)
        }
    }

    /// What is at a socket, as sentences have it: the daemon, or another service.
    static func service(at socket: String) -> String { isOurs(socket) ? "daemon" : "service" }

    private static func isOurs(_ socket: String) -> Bool {
        !socket.contains(":") || socket.contains("atrium")
    }

    private static func seeLog(_ socket: String) -> String {
        "see its log for the reason: 'journalctl -u \(unit(of: socket))', or its terminal"
    }

    private static func notRunning(_ socket: String) -> String {
        let unit = unit(of: socket)
        let start = unit == "atriumd" ? "'atriumd', 'make run' or 'systemctl start atriumd'" : nil
        return "is atriumd running? Start it with \(start ?? "'systemctl start \(unit).socket'"),\n"
            + "or name its socket: --socket PATH, or ATRIUM_SOCKET."
    }

    /// The systemd unit that serves a socket, by the paths that our units use: `atriumd@films` of
    /// `/run/atrium-films/atrium.sock`.
    static func unit(of socket: String) -> String {
        let match = socket.wholeMatch(of: #/(?:/var)?/run/atrium-([^/]+)/atrium\.sock/#)
        return match.map { "atriumd@\($0.1)" } ?? "atriumd"
    }

    /// A hint that names the socket's group, and the command that adds the user to it.
    private static func howToJoin(_ socket: String) -> String {
        var status = stat()
        let isKnown = stat(socket, &status) == 0
        let group = isKnown ? ActorName.group(status.st_gid) ?? "\(status.st_gid)" : "atrium"
        // Its members may do more than talk to a daemon.
        guard group != "root" else {
            return "the socket belongs to the group 'root': run the command as root, or have the "
                + "daemon run as another group."
        }
        let user = ActorName.user(getuid()) ?? "$USER"
        return "the socket belongs to the group '\(group)'; join it with "
            + "'sudo usermod -aG \(group) \(user)',\nthen log in again."
    }
}
