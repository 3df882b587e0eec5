public import AtriumKit

/// The result of a vote.
public struct VoteResult: Sendable, Hashable {
    /// The subject's tally, and the caller's value in it.
    public var tally: TallyView
    /// The value of the caller's previous ballot.
    public var previous: Double?
    /// The entry's sequence; the current one if nothing changed.
    public var sequence: Int64
}

/// A subject's tally.
public struct TallyResult: Sendable, Hashable {
    /// The tally.
    public var tally: TallyView
    /// The last durable sequence that this reflects.
    public var sequence: Int64
}

/// One ballot, as moderators read it.
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
    /// The ballots, ordered by when each actor was first seen by the store.
    public var ballots: [BallotView]
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
}

/// A comment at its place in the thread, with its author's name.
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
    /// The entry's sequence; for a repeated post, that of the first one.
    public var sequence: Int64
    /// Whether nothing changed: the comment was as it should be already.
    public var isUnchanged = false
}

/// A page of a thread.
public struct ThreadResult: Sendable, Hashable {
    /// The comments, in pre-order.
    public var comments: [CommentView]
    /// How many comments the subject has in total.
    public var total: Int
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
    /// The reader's own comments on the subject that others can't see.
    ///
    /// They wait for a moderator, or a moderator removed them and gave a reason.
    public var held: [CommentView] = []
}
