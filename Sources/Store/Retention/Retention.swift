/// The limits of the past notifications that a store keeps for subscribers that catch up; the newest entry always
/// stays.
public struct Retention: Sendable, Hashable {
    /// The most notifications.
    public var count: Int
    /// The most bytes; an entry counts its topic, its payloads and 64 more, even without a notification.
    public var bytes: Int
    /// The greatest age in milliseconds, measured from the newest notification.
    public var age: Int64

    /// Limits; by default everything is kept.
    public init(count: Int = .max, bytes: Int = .max, age: Int64 = .max) {
        self.count = count
        self.bytes = bytes
        self.age = age
    }
}

/// The past notifications that are kept at present, and the limits.
public struct KeptPast: Sendable, Hashable {
    /// The number of notifications.
    public var count: Int
    /// Their size in bytes, as ``Retention`` counts it.
    public var bytes: Int
    /// The limits.
    public var limits: Retention
    /// The number of entries that were gone, and not trimmed, when they were counted: at the start, or after an erasure.
    public var missing: Int
}

extension Store {
    /// Sets the limits for past notifications, and starts to delete those that exceed them.
    ///
    /// Later, whenever a limit is exceeded by a fiftieth, the oldest notifications are deleted until it is met, in
    /// small transactions between those of entries. Records stay.
    public func setRetention(_ retention: Retention) {
        writer.trimming.setLimits(retention, in: writer)
    }

    /// The past notifications that are kept; nil until limits were set and the notifications were counted.
    public var keptPast: KeptPast? { writer.trimming.kept }

    /// Waits until no limit is exceeded, and the file has returned its unused pages.
    package func waitForTrimming() { writer.trimming.wait(for: writer) }
}
