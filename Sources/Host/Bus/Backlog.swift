public import Store

/// A part of the stored past, read for one subscriber.
public struct Backlog: Sendable {
    /// What matches, in order.
    public var notifications: [BusNotification]
    /// The sequence through which the store was read.
    public var through: Int64
    /// The sequence up to which notifications are not kept any more; 0: all are kept.
    public var trimmedThrough: Int64

    /// What the comments say that they are about; nothing of those that say nothing any more.
    public var texts: [RecordKey: CommentText] = [:]
    /// The texts are what the records said at this sequence, or at a later one.
    public var asOf: Int64

    /// The first and the last sequence of damaged notifications that lie before ``notifications``; nil: there are none.
    public var damaged: ClosedRange<Int64>?
    /// The damage that the read has met.
    public var damage = PastDamage()

    /// A part of the past; by default its texts are as they were at its end.
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
    /// Whose subscription it is for.
    public var user = ""
    /// Only what follows this sequence.
    public var after: Int64
    /// Nothing beyond this sequence.
    public var through: Int64
    /// What the topics must match: any of these.
    public var patterns: [TopicPattern]
    /// At most so many notifications, from 1.
    public var limit: Int
    /// No further once the notifications have so many bytes.
    public var maxBytes: Int
}

/// Reads the past away from the event loop, and calls back on any thread, exactly once.
public typealias BacklogReader =
    @Sendable (
        _ request: BacklogRequest,
        _ done: @escaping @Sendable (Result<Backlog, HostError>) -> Void
    ) -> Void
