/// How much of the past a store keeps for those who catch up; the newest entry always stays.
public struct Retention: Sendable, Hashable {
    /// So many notifications.
    public var count: Int
    /// So many bytes: of each its topic and payloads, and 64, also for an entry without notification.
    public var bytes: Int
    /// Those that are no more milliseconds older than the newest one.
    public var age: Int64

    /// What is kept; by default everything.
    public init(count: Int = .max, bytes: Int = .max, age: Int64 = .max) {
        self.count = count
        self.bytes = bytes
        self.age = age
    }
}

/// How much of the past is kept at present, and how much may be.
public struct KeptPast: Sendable, Hashable {
    /// How many notifications there are.
    public var count: Int
    /// Their bytes, as ``Retention`` counts them.
    public var bytes: Int
    /// The limits.
    public var limits: Retention
}

extension Store {
    /// Sets what is kept of past notifications, and begins to delete what is beyond it.
    ///
    /// From then on that goes on as entries are written: once a limit is exceeded by a fiftieth, the oldest go until
    /// it is kept to, in small transactions between those of entries. Records stay.
    ///
    /// - Parameter retention: the limits, which take the place of those set before.
    public func keep(_ retention: Retention) { writer.keep(retention) }

    /// How much of the past is kept; nil until limits were set and what is there was counted.
    public var keptPast: KeptPast? { writer.keptPast }

    /// Waits until nothing is beyond the limits, and the file has given back what it has to spare.
    package func waitForTrimming() { writer.waitForTrimming() }
}
