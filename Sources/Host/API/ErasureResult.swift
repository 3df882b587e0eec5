/// What an erasure of a person took away.
public struct ErasureResult: Sendable, Hashable {
    /// How many ballots were taken out of tallies.
    public var ballots: Int = 0
    /// How many comments lost text and author, or went as a whole.
    public var comments: Int = 0
    /// How many notifications went, or were made nobody's.
    public var notifications: Int = 0
    /// The sequence of its last entry.
    public var sequence: Int64 = 0
    /// Files beside the store that hold it as it was before, and so the person, too.
    public var copies: [String] = []
}
