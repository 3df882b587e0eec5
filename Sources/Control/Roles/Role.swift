/// The rights of a peer.
///
/// Each role includes the rights of the roles before it.
public enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// May read.
    case observer
    /// May vote, comment, activate items and publish, for itself.
    case member
    /// A web front end: like a member, and also for actors of its own namespace.
    case frontend
    /// May also put and remove items, moderate other users' comments, and see who voted.
    case moderator
    /// May do everything.
    case admin

    /// Orders roles by their rights.
    public static func < (one: Role, other: Role) -> Bool { one.rank < other.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The roles that the configuration assigns.
///
/// Names are user names or `@group` names; a front end has its namespace too, as in `www-data=web`.
public struct RoleSettings: Sendable, Hashable {
    /// Users and groups that are admins.
    public var admins: [String]
    /// Users and groups that are moderators.
    public var moderators: [String]
    /// Users and groups that are members.
    public var members: [String]
    /// Users and groups that are observers.
    public var observers: [String]
    /// Users and groups that are front ends, each with `=namespace`.
    public var frontends: [String]

    /// Settings; by default nobody is named.
    public init(
        admins: [String] = [], moderators: [String] = [], members: [String] = [],
        observers: [String] = [], frontends: [String] = []
    ) {
        self.admins = admins
        self.moderators = moderators
        self.members = members
        self.observers = observers
        self.frontends = frontends
    }
}

/// The role and namespace of one peer, derived from its credentials.
public struct Access: Sendable, Hashable {
    /// The highest role that it has.
    public var role: Role
    /// The namespace of the actors for which it may act; nil: only for itself.
    public var namespace: String?

    /// The rights of both.
    func joined(_ other: Access) -> Access {
        Access(role: max(role, other.role), namespace: namespace ?? other.namespace)
    }
}
