public import AtriumKit
public import Store

/// What happened, before it is decided who may see what of it.
public struct BusNotification: Sendable, Hashable {
    /// Its place in the order of all durable ones; nil for a transient one.
    public var sequence: Int64?
    /// When it happened.
    public var time: Timestamp
    /// What it is about: dotted words.
    public var topic: String
    /// On whose behalf, nil for the daemon itself; restricted too where there is a restricted part.
    public var actor: ActorID?
    /// A JSON object's bytes, for every subscriber of the topic.
    public var payload: [UInt8]
    /// A JSON object's bytes, for those who may see more; nil: there is no more to see.
    public var restricted: [UInt8]?
    /// The comment, by its record, whose text is sent with it, as it is when it is sent; nil: none is.
    public var comment: RecordKey?
}

/// A notification as one subscriber sees it.
public struct NotificationView: Sendable, Hashable {
    /// Its place in the order of all durable ones; nil for a transient one.
    public var sequence: Int64?
    /// When it happened.
    public var time: Timestamp
    /// What it is about.
    public var topic: String
    /// The name of the actor; nil for the daemon, for an erased one, and for who may not see it.
    public var actor: String?
    /// A JSON object's bytes; not copied for each subscriber.
    public var payload: [UInt8]
}

/// What a subscriber has not been told yet, or the part of it that fits.
public struct SubscriptionBatch: Sendable, Hashable {
    /// What can't be told any more.
    public struct Gap: Sendable, Hashable {
        /// Why not.
        public enum Reason: String, Sendable, Hashable {
            /// It is not kept any more, or was never there.
            case trimmed
            /// Transient ones passed while the subscriber was slow.
            case transient
            /// It is kept, and is not what was written: the store's file is damaged.
            case damaged
            /// The subscriber's sequence is another store's: this one was restored from a backup, or is new.
            case replaced
        }

        /// The first sequence concerned; of transient ones, the durable one before the first.
        public var from: Int64
        /// The last sequence concerned; of transient ones, the durable one before the last.
        public var to: Int64
        /// Why.
        public var reason: Reason

        /// A gap.
        public init(from: Int64, to: Int64, reason: Reason) {
            self.from = from
            self.to = to
            self.reason = reason
        }
    }

    /// The notifications in order; at most 500.
    public var notifications: [NotificationView]
    /// The sequence through which the subscriber has now been told everything: its cursor.
    public var sequence: Int64
    /// Whether nothing older is outstanding.
    public var live: Bool
    /// What can't be told any more; it lies before the notifications.
    public var gap: Gap?
}

/// A subscription's name while it lasts; never used twice by one bus.
public struct SubscriptionID: Sendable, Hashable {
    let number: UInt64
}

/// An observer's name while it lasts; never used twice by one bus.
public struct ObserverID: Sendable, Hashable {
    let number: UInt64
}
