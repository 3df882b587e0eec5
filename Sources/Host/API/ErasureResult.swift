/// What an erasure of a person took away.
public struct ErasureResult: Sendable, Hashable {
    /// How many ballots were taken out of tallies.
    public var ballots: Int
    /// How many comments lost text and author, or went as a whole.
    public var comments: Int
    /// How many notifications went, or were made nobody's.
    public var notifications: Int
    /// The sequence of its last entry.
    public var sequence: Int64
    /// Files beside the store that hold it as it was before, and so the person, too.
    public var copies: [String]

    /// What it took away; by default nothing yet.
    public init(
        ballots: Int = 0, comments: Int = 0, notifications: Int = 0, sequence: Int64 = 0,
        copies: [String] = []
    ) {
        self.ballots = ballots
        self.comments = comments
        self.notifications = notifications
        self.sequence = sequence
        self.copies = copies
    }
}
