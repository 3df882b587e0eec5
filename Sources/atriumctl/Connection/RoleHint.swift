import Glibc

/// Which line in which file gives a user a role.
struct RoleHint {
    /// The daemon's socket, by whose path the instance is known.
    let socket: String
    /// The login name that the line gives the role to.
    var user = ActorName.user(getuid()) ?? "\(getuid())"

    /// How somebody gets a role, such as `moderator`.
    func hint(role: String) -> String {
        line(role == "frontend" ? "frontends: [\(user)=web]" : "\(role)s: [\(user)]")
    }

    /// How somebody may act for an actor; nil where its form is wrong, or where no line says that.
    func hint(actor: String) -> String? {
        guard let colon = actor.firstIndex(of: ":") else { return nil }
        let namespace = actor[..<colon]
        guard namespace != "unix" else {
            return
                "leave the actor out to act for yourself; for users of this machine only an admin acts."
        }
        guard namespace.wholeMatch(of: #/[a-z0-9-]+/#) != nil else { return nil }
        return line("frontends: [\(user)=\(namespace)]")
    }

    private func line(_ line: String) -> String {
        let unit = ConnectionProblem.unit(of: socket)
        let isSystem = socket.hasPrefix("/run/atrium") || socket.hasPrefix("/var/run/atrium")
        let instance = unit.split(separator: "@").dropFirst().map { "-\($0)" }.joined()
        let file = isSystem ? "/etc/atrium\(instance)/atrium.yaml" : "the daemon's atrium.yaml"
        let reload = isSystem ? "systemctl reload \(unit)" : "atriumctl reload"
        return "an administrator adds this line to \(file), or \(user) to the list that is there:\n"
            + "\(line)\nand runs '\(reload)'."
    }
}
