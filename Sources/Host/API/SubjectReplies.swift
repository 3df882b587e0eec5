public import AtriumKit

/// What came of a vote.
public struct VoteResult: Sendable, Hashable {
    /// The subject's tally, and the caller's value in it.
    public var tally: TallyView
    /// The value before.
    public var previous: Double?
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64
}

/// A subject's tally.
public struct TallyResult: Sendable, Hashable {
    /// The tally.
    public var tally: TallyView
    /// The last durable sequence that this reflects.
    public var sequence: Int64
}

/// One ballot as moderators read it.
public struct BallotView: Sendable, Hashable {
    /// The actor's name.
    public var actor: String
    /// The value.
    public var value: Double
    /// When it was cast.
    public var cast: Timestamp
}

/// A page of ballots.
public struct BallotPage: Sendable, Hashable {
    /// The ballots, in the order in which the actors were first met.
    public var ballots: [BallotView]
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
}

/// A comment as it is read: at its place, with its author's name.
public struct CommentView: Sendable, Hashable {
    /// The comment at its place.
    public var entry: ThreadPage.Entry
    /// The author's name; nil for a tombstone or an erased person.
    public var author: String?
}

/// One comment, after it was posted, edited or moderated.
public struct CommentResult: Sendable, Hashable {
    /// The comment.
    public var comment: CommentView
    /// The entry's sequence; that of the first post when it is repeated.
    public var sequence: Int64
}

/// A page of a thread.
public struct ThreadResult: Sendable, Hashable {
    /// The comments, in pre-order.
    public var comments: [CommentView]
    /// How many comments the subject has in all.
    public var total: Int
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
    /// The reader's own comments about the subject that others are not shown: they wait for a moderator, or one
    /// removed them and said why.
    public var held: [CommentView] = []
}
