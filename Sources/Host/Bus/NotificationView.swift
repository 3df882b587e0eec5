public import AtriumKit
public import Store

/// A notification with everything in it, before access rights are applied.
public struct BusNotification: Sendable, Hashable {
    /// The sequence of its entry; nil for a transient one.
    public var sequence: Int64?
    /// When it happened.
    public var time: Timestamp
    /// Its topic: words with dots between.
    public var topic: String
    /// The user who caused it; nil for the daemon itself.
    ///
    /// It is restricted when there is a restricted part.
    public var actor: ActorID?
    /// The bytes of a JSON object, for every subscriber of the topic.
    public var payload: [UInt8]
    /// The bytes of a JSON object, for subscribers that see restricted parts only; nil: there is no such part.
    public var restricted: [UInt8]?
    /// The record of the comment whose current text is delivered with it; nil: it is about no comment.
    public var comment: RecordKey?
}

/// A notification as one subscriber receives it.
public struct NotificationView: Sendable, Hashable {
    /// The sequence of its entry; nil for a transient one.
    public var sequence: Int64?
    /// When it happened.
    public var time: Timestamp
    /// Its topic.
    public var topic: String
    /// The actor's name; nil for the daemon, for an erased user, and when the subscriber may not see it.
    public var actor: String?
    /// The bytes of a JSON object; subscribers share them.
    public var payload: [UInt8]
}

/// The notifications that a subscriber pulls at once: undelivered ones, as many as fit.
public struct SubscriptionBatch: Sendable, Hashable {
    /// A range of notifications that can't be delivered.
    public struct Gap: Sendable, Hashable {
        /// Why they can't be.
        public enum Reason: String, Sendable, Hashable {
            /// They were trimmed, or never existed.
            case trimmed
            /// Transient ones were evicted before the subscriber pulled them.
            case transient
            /// They are stored but differ from what was written: the store's file is damaged.
            case damaged
            /// The subscriber's cursor is from another store: this store was restored from a backup, or is new.
            case replaced
        }

        /// The first sequence in the gap; for transient ones, that of the durable entry before the first.
        public var from: Int64
        /// The last sequence in the gap; for transient ones, that of the durable entry before the last.
        public var to: Int64
        /// Why they can't be delivered.
        public var reason: Reason

        /// Makes a gap.
        public init(from: Int64, to: Int64, reason: Reason) {
            self.from = from
            self.to = to
            self.reason = reason
        }
    }

    /// The notifications in order; at most 500.
    public var notifications: [NotificationView]
    /// The subscriber's new cursor: the sequence through which everything was delivered, including this batch.
    public var sequence: Int64
    /// Whether the subscriber has caught up: nothing else was undelivered when the batch was made.
    public var live: Bool
    /// The notifications that can't be delivered; they precede ``notifications``.
    public var gap: Gap?
}

/// A subscription's id; a bus never uses it twice.
public struct SubscriptionID: Sendable, Hashable {
    let number: UInt64
}

/// An observer's id; a bus never uses it twice.
public struct ObserverID: Sendable, Hashable {
    let number: UInt64
}
