import Glibc

/// Which role a peer has, by its kernel credentials.
///
/// Without a mapping root and the daemon's own user are admins, and the group that owns the socket
/// are members; anyone else who reaches the socket may read.
public struct RoleTable: Sendable {
    /// Users and groups of the configuration that there are not: nobody has a role by them.
    public private(set) var problems: [RoleProblem] = []

    private var users: [UInt32: Access] = [:]
    private var groups: [UInt32: Access] = [:]
    private let subordinates: SubordinateUsers

    /// Resolves the configuration's names; blocks.
    ///
    /// - Parameters:
    ///   - settings: who has which role.
    ///   - ownUser: the daemon's own user id.
    ///   - socketGroups: the groups that own sockets; their members are members.
    ///   - subordinates: the users that belong to others; none by default.
    /// - Throws: ``RoleProblem`` for a front end without a namespace.
    public init(
        _ settings: RoleSettings, ownUser: UInt32, socketGroups: [UInt32],
        subordinates: SubordinateUsers = .none
    ) throws(RoleProblem) {
        self = try Self.maker(settings, ownUser: ownUser, socketGroups: { socketGroups }) {
            subordinates
        }()
    }

    /// Who has a role as long as the system's directory of users does not answer; it is not asked.
    ///
    /// - Parameters:
    ///   - ownUser: the daemon's own user id.
    ///   - socketGroups: the groups that own sockets, as far as they are known.
    /// - Returns: a table without problems.
    public static func withoutDirectory(ownUser: UInt32, socketGroups: [UInt32]) -> RoleTable {
        RoleTable(RoleSettings(), [], ownUser, socketGroups, .withoutDirectory())
    }

    /// Checks the configuration's form.
    ///
    /// - Parameters:
    ///   - settings: who has which role.
    ///   - ownUser: the daemon's own user id.
    ///   - socketGroups: gives the groups that own sockets, whose members are members; may block.
    ///   - subordinates: gives the users that belong to others; may block.
    /// - Returns: resolves the configuration's names; blocks, for as long as the system's directory takes.
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
                // One who has a higher role besides keeps it.
                $0.joined($1)
            }
        }
        users[0] = Access(role: .admin)
        users[ownUser] = Access(role: .admin)
    }

    /// What a peer may do: the highest role among its user's and its groups'.
    ///
    /// - Parameters:
    ///   - uid: the user.
    ///   - mine: all groups that it is in.
    /// - Returns: its role, and the namespace that it acts for.
    public func access(uid: UInt32, groups mine: some Sequence<UInt32>) -> Access {
        var best = users[uid] ?? Access(role: .observer)
        guard best.role != .admin, !groups.isEmpty else { return best }
        for group in mine {
            guard let access = groups[group] else { continue }
            best = best.joined(access)
        }
        return best
    }

    /// Whether somebody's role depends on the groups that they are in.
    func asksForGroups(of uid: UInt32) -> Bool {
        !groups.isEmpty && users[uid]?.role != .admin
    }

    /// Whose subordinate a user is, that has no role for itself; nil: nobody's.
    func owner(of uid: UInt32) -> UInt32? {
        users[uid] == nil ? subordinates.owner(of: uid) : nil
    }

    private mutating func add(
        _ name: String, key: String, _ access: Access,
        merging: (_ before: Access, _ access: Access) -> Access = { $1 }
    ) {
        // An account that was deleted must not keep the others from being served.
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

/// An entry of a mapping of roles that can't be: which key, and what is wrong.
public struct RoleProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The setting: `admins`, `frontends` and so on.
    public let key: String
    /// What is wrong with it.
    public let reason: String

    /// In a sentence.
    public var description: String { "\(key): \(reason)" }

    init(_ key: String, _ reason: String) {
        self.key = key
        self.reason = reason
    }
}
