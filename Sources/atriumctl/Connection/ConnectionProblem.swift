import Glibc
import Varlink

/// Failures of the connection, in sentences.
enum ConnectionProblem {
    /// What went wrong on the way to the daemon, and what to do.
    static func explain(_ error: any Error, socket: String) -> CommandFailure {
        guard let error = error as? VarlinkConnectionError else {
            return CommandFailure("\(error)")
        }
        let isOurs = !socket.contains(":") || socket.contains("atrium")
        switch error.kind {
        case .notFound, .refused:
            return CommandFailure(
                error.description, hint: isOurs ? notRunning : nil, status: .unreachable)
        case .accessDenied:
            return CommandFailure(
                "\(error.description)", hint: howToJoin(socket), status: .unreachable)
        case .closed:
            return CommandFailure(
                "the \(isOurs ? "daemon" : "service") closed the connection before it had answered",
                hint: isOurs ? seeLog : nil, status: .unreachable)
        case .timedOut:
            return CommandFailure(
                error.description, hint: isOurs ? notRunning : nil, status: .unreachable)
        case .protocolViolation:
            return CommandFailure(
                error.description,
                hint: "is another program listening at \(socket)?", status: .unreachable)
        case .upgraded, .overflow, .other:
            return CommandFailure(error.description, status: .unreachable)
        }
    }

    private static let seeLog =
        "see its log for the reason: 'journalctl -u atriumd', or its terminal"

    private static let notRunning =
        "is atriumd running? Start it with 'atriumd', 'make run' or 'systemctl start atriumd',\n"
        + "or name its socket: --socket PATH, or ATRIUM_SOCKET."

    /// Which group the socket belongs to, and how to become a member.
    private static func howToJoin(_ socket: String) -> String {
        var status = stat()
        let isKnown = stat(socket, &status) == 0
        let group = isKnown ? ActorName.group(status.st_gid) ?? "\(status.st_gid)" : "atrium"
        let user = ActorName.user(getuid()) ?? "$USER"
        return "the socket belongs to the group '\(group)'; join it with "
            + "'sudo usermod -aG \(group) \(user)',\nthen log in again."
    }
}
