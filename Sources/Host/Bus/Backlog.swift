public import Store

/// A part of the stored past, read for one subscriber.
public struct Backlog: Sendable {
    /// The matching notifications, by ascending sequence.
    public var notifications: [BusNotification]
    /// The sequence through which the store was read.
    public var through: Int64
    /// The sequence through which notifications were trimmed; 0: none was.
    public var trimmedThrough: Int64

    /// The texts of the comments that the notifications are about; a comment that was deleted has no entry.
    public var texts: [RecordKey: CommentText] = [:]
    /// The texts are those of the records at this sequence or a later one.
    public var asOf: Int64

    /// The first and last sequence of what is damaged or missing before ``notifications``; nil: nothing is.
    public var damaged: ClosedRange<Int64>?
    /// The damage that this read found.
    public var damage = PastDamage()

    /// Makes a part of the past; by default `asOf` is `through`.
    public init(
        notifications: [BusNotification], through: Int64, trimmedThrough: Int64, asOf: Int64? = nil
    ) {
        self.notifications = notifications
        self.through = through
        self.trimmedThrough = trimmedThrough
        self.asOf = asOf ?? through
    }
}

/// Which part of the stored past to read.
public struct BacklogRequest: Sendable {
    /// The user who owns the subscription.
    public var user = ""
    /// The cursor: only notifications after this sequence are read.
    public var after: Int64
    /// The last sequence to read.
    public var through: Int64
    /// The patterns; a topic must match at least one of them.
    public var patterns: [TopicPattern]
    /// The most notifications to return, at least 1.
    public var limit: Int
    /// The most bytes to return; a first notification that is larger is returned all the same.
    public var maxBytes: Int
}

/// Reads the past off the event loop, and calls `done` exactly once, on any thread.
public typealias BacklogReader =
    @Sendable (
        _ request: BacklogRequest,
        _ done: @escaping @Sendable (Result<Backlog, HostError>) -> Void
    ) -> Void
