/// A change of one record of a component.
///
/// State is a function of the *set* of current records: changes of different keys give the same
/// observable state in any order, and applying one twice is applying it once.
@frozen
public enum Change: Sendable, Hashable, Codable {
    /// Sets the record under a key.
    case put(key: String, value: Value)
    /// Removes the record under a key.
    case removed(key: String)

    /// The key of the record that changes.
    public var key: String {
        switch self {
        case .put(let key, _), .removed(let key): key
        }
    }

    /// The record's new value; nil if the record is removed.
    public var value: Value? {
        if case .put(_, let value) = self { value } else { nil }
    }
}

/// The actor, time and ids of a command, so that a component needs no clock and no randomness.
public struct CommandContext: Sendable, Hashable, Codable {
    /// The actor on whose behalf the command is made.
    public var actor: ActorID
    /// The time of the command.
    public var time: Timestamp
    /// An unused id for what the command creates; ids of later times sort after it, by bytes.
    public var freshID: String
    /// Whether the actor may act on what others wrote.
    public var isModerator: Bool
    /// A number that increases with every command; it orders records that have the same time.
    public var order: Int64

    /// Creates a command's context.
    public init(
        actor: ActorID, time: Timestamp, freshID: String, isModerator: Bool = false,
        order: Int64 = 0
    ) {
        self.actor = actor
        self.time = time
        self.freshID = freshID
        self.isModerator = isModerator
        self.order = order
    }
}
