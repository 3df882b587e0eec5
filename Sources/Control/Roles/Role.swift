/// What a peer may do.
///
/// Each role may do all that the ones before it may.
public enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Reads.
    case observer
    /// Votes, comments, activates items and publishes, as itself.
    case member
    /// Like a member, and for actors of its own namespace: a web front end.
    case frontend
    /// Also puts and removes items, acts on what others wrote, and sees who voted.
    case moderator
    /// Everything.
    case admin

    /// By what they may do.
    public static func < (one: Role, other: Role) -> Bool { one.rank < other.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Who has which role, as the configuration says: user names, `@group` names; a front end with its
/// namespace, `www-data=web`.
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

/// What one peer may do, found from its credentials.
public struct Access: Sendable, Hashable {
    /// The highest role that it has.
    public var role: Role
    /// Whose actors it may act for; nil: its own alone.
    public var namespace: String?

    /// What a peer may do.
    public init(role: Role, namespace: String? = nil) {
        self.role = role
        self.namespace = namespace
    }

    /// What one may do who may do both.
    func joined(_ other: Access) -> Access {
        Access(role: max(role, other.role), namespace: namespace ?? other.namespace)
    }
}
