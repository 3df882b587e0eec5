public import AtriumKit

/// What came of applying definitions.
public struct ApplyOutcome: Sendable, Hashable {
    /// For each definition in turn, what became of its container.
    public var results: [ApplyResult]
    /// The last sequence that any of them was committed under; the current one when nothing was.
    public var sequence: Int64
}

/// A container with what was said about itself.
public struct ContainerDescription: Sendable, Hashable {
    /// How it does.
    public var status: ContainerStatus
    /// The votes on the container itself; nil without a votes component.
    public var votes: Tally?
    /// The comments on the container itself; nil without a comments component.
    public var comments: Int?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
}

/// How the registry does.
public struct RegistryStatus: Sendable, Hashable {
    /// The store's identity.
    public var identity: String
    /// The last durable sequence.
    public var sequence: Int64
    /// How many containers there are.
    public var containers: Int
    /// How many items their lists have.
    public var items: Int
    /// How many plugins are loaded.
    public var plugins: Int
    /// How many components live in workers.
    public var workers: Int
    /// How many subscriptions are open.
    public var subscribers: Int
    /// How many screens are open.
    public var screens: Int
    /// What is wrong, a sentence each; empty when all is well.
    public var problems: [String]
    /// Bytes that the store's files take.
    public var storeBytes: Int
    /// What is kept of the past; nil while it is being counted.
    public var past: Past?

    /// What is kept of past notifications, and how much may be; nil for no limit.
    public struct Past: Sendable, Hashable {
        /// How many there are.
        public var count: Int
        /// Their bytes.
        public var bytes: Int
        /// How many there may be.
        public var most: Int
        /// How many bytes.
        public var mostBytes: Int?
        /// How many days older than the newest one.
        public var mostDays: Int?
    }
}
