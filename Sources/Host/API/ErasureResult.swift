/// The result of the erasure of a person: the numbers of what it removed.
public struct ErasureResult: Sendable, Hashable {
    /// How many ballots were removed from tallies.
    public var ballots: Int = 0
    /// How many comments lost their text and author, or were removed.
    public var comments: Int = 0
    /// How many notifications were removed, or lost their actor.
    public var notifications: Int = 0
    /// The sequence of the erasure's last entry.
    public var sequence: Int64 = 0
    /// Files beside the store that hold an earlier copy of it, and therefore still hold the person's data.
    public var copies: [String] = []
}
