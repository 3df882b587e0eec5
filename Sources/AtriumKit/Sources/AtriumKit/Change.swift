/// A change of one record of a component.
///
/// State is a function of the *set* of current records: changes of different keys give the same
/// observable state in any order, and applying one twice is applying it once.
@frozen
public enum Change: Sendable, Hashable, Codable {
    /// The record under this key is now this.
    case put(key: String, value: Value)
    /// There is no record under this key.
    case removed(key: String)

    /// Which record changes.
    public var key: String {
        switch self {
        case .put(let key, _), .removed(let key): key
        }
    }

    /// The record's new value; nil when it is removed.
    public var value: Value? {
        if case .put(_, let value) = self { value } else { nil }
    }
}

/// What a command carries besides its own parameters, so that a component needs neither clock nor
/// randomness.
public struct CommandContext: Sendable, Hashable, Codable {
    /// On whose behalf.
    public var actor: ActorID
    /// When.
    public var time: Timestamp
    /// An id that was never used before, for what the command creates; it follows those of earlier times in the order
    /// of bytes.
    public var freshID: String
    /// Whether the actor may act on what others wrote.
    public var isModerator: Bool
    /// Grows from command to command: it orders what has the same time.
    public var order: Int64

    /// All that a command carries.
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
