import Glibc

/// Maps the kernel's credentials of a peer to its role.
///
/// Without settings, root and the daemon's own user are admins, and members of the socket's group are members.
/// Everyone else who can connect is an observer.
public struct RoleTable: Sendable {
    /// Users and groups in the configuration that don't exist: they give no role.
    public private(set) var problems: [RoleProblem] = []

    private var users: [UInt32: Access] = [:]
    private var groups: [UInt32: Access] = [:]
    private let subordinates: SubordinateUsers

    /// Resolves the configuration's names; blocks.
    ///
    /// - Parameters:
    ///   - settings: the roles that the configuration assigns.
    ///   - ownUser: the daemon's own user id.
    ///   - socketGroups: the groups that own sockets; their members get the role member.
    ///   - subordinates: the ranges of subordinate users; none by default.
    /// - Throws: ``RoleProblem`` for a front end without a namespace.
    public init(
        _ settings: RoleSettings, ownUser: UInt32, socketGroups: [UInt32],
        subordinates: SubordinateUsers = .none
    ) throws(RoleProblem) {
        self = try Self.maker(settings, ownUser: ownUser, socketGroups: { socketGroups }) {
            subordinates
        }()
    }

    /// The table for the time before the system's directory of users answers, without problems; does not query it.
    public static func withoutDirectory(ownUser: UInt32, socketGroups: [UInt32]) -> RoleTable {
        RoleTable(RoleSettings(), [], ownUser, socketGroups, .withoutDirectory())
    }

    /// Checks the form of the configuration.
    ///
    /// - Parameters:
    ///   - settings: the roles that the configuration assigns.
    ///   - ownUser: the daemon's own user id.
    ///   - socketGroups: returns the groups that own sockets, whose members are members; may block.
    ///   - subordinates: returns the ranges of subordinate users; may block.
    /// - Returns: a function that resolves the names; it blocks while the system's directory is queried.
    /// - Throws: ``RoleProblem`` for a front end without a namespace.
    public static func maker(
        _ settings: RoleSettings, ownUser: UInt32,
        socketGroups: @escaping @Sendable () -> [UInt32],
        subordinates: @escaping @Sendable () -> SubordinateUsers
    ) throws(RoleProblem) -> @Sendable () -> RoleTable {
        var frontends: [(name: String, namespace: String)] = []
        for entry in settings.frontends {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, isNamespace(parts[1]) else {
                throw RoleProblem(
                    "frontends",
                    "'\(entry)' names no namespace; write user=namespace, the "
                        + "namespace of a-z, 0-9 and '-', and not 'unix'")
            }
            frontends.append((parts[0], parts[1]))
        }
        return { [frontends] in
            RoleTable(settings, frontends, ownUser, socketGroups(), subordinates())
        }
    }

    private init(
        _ settings: RoleSettings, _ frontends: [(name: String, namespace: String)],
        _ ownUser: UInt32, _ socketGroups: [UInt32], _ subordinates: SubordinateUsers
    ) {
        self.subordinates = subordinates
        for group in socketGroups where group != 0 { groups[group] = Access(role: .member) }
        let lists: [(Role, String, [String])] = [
            (.observer, "observers", settings.observers), (.member, "members", settings.members),
            (.moderator, "moderators", settings.moderators), (.admin, "admins", settings.admins),
        ]
        for (role, key, names) in lists {
            for name in names { add(name, key: key, Access(role: role)) }
        }
        for (name, namespace) in frontends {
            add(name, key: "frontends", Access(role: .frontend, namespace: namespace)) {
                // A user with a higher role from another entry keeps it.
                $0.joined($1)
            }
        }
        users[0] = Access(role: .admin)
        users[ownUser] = Access(role: .admin)
    }

    /// The access of a peer, by its user and all of its groups: the highest role of these, and the namespace for
    /// which it may act.
    public func access(uid: UInt32, groups mine: some Sequence<UInt32>) -> Access {
        var best = users[uid] ?? Access(role: .observer)
        guard best.role != .admin, !groups.isEmpty else { return best }
        for group in mine {
            guard let access = groups[group] else { continue }
            best = best.joined(access)
        }
        return best
    }

    /// Whether a user's role depends on its groups.
    func asksForGroups(of uid: UInt32) -> Bool {
        !groups.isEmpty && users[uid]?.role != .admin
    }

    /// The owner of a subordinate user that has no role of its own; nil: it is not a subordinate.
    func owner(of uid: UInt32) -> UInt32? {
        users[uid] == nil ? subordinates.owner(of: uid) : nil
    }

    private mutating func add(
        _ name: String, key: String, _ access: Access,
        merging: (_ before: Access, _ access: Access) -> Access = { $1 }
    ) {
        // Deleting an account must not keep the daemon from serving other users.
        if name.hasPrefix("@") {
            guard let group = getgrnam(String(name.dropFirst())) else {
                problems.append(RoleProblem(key, "there is no group '\(name.dropFirst())'"))
                return
            }
            let id = group.pointee.gr_gid
            groups[id] = groups[id].map { merging($0, access) } ?? access
        } else {
            guard let user = getpwnam(name) else {
                problems.append(
                    RoleProblem(key, "there is no user '\(name)'; groups are written @group"))
                return
            }
            let id = user.pointee.pw_uid
            users[id] = users[id].map { merging($0, access) } ?? access
        }
    }

    private static func isNamespace(_ text: String) -> Bool {
        text != "unix" && !text.isEmpty
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
            }
    }
}

/// An invalid entry in the settings of roles.
public struct RoleProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The setting: `admins`, `frontends` and so on.
    public let key: String
    /// The problem with the entry, for people.
    public let reason: String

    /// The problem as a sentence.
    public var description: String { "\(key): \(reason)" }

    init(_ key: String, _ reason: String) {
        self.key = key
        self.reason = reason
    }
}
