public import AtriumKit

/// The result of applying definitions.
public struct ApplyOutcome: Sendable, Hashable {
    /// The change of each definition's container, in the order of the definitions.
    public var results: [ApplyResult]
    /// The last sequence under which a change was committed; the current one if nothing changed.
    public var sequence: Int64
}

/// A container with the votes and comments on itself.
public struct ContainerDescription: Sendable, Hashable {
    /// Its status.
    public var status: ContainerStatus
    /// The votes on the container itself; nil without a votes component.
    public var votes: Tally?
    /// The comments on the container itself; nil without a comments component.
    public var comments: Int?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
}

/// The registry's figures.
public struct RegistryStatus: Sendable, Hashable {
    /// The store's identity.
    public var identity: String
    /// The last durable sequence.
    public var sequence: Int64
    /// The number of containers.
    public var containers: Int
    /// The number of items in their lists.
    public var items: Int
    /// The number of loaded plugins.
    public var plugins: Int
    /// The number of components in workers.
    public var workers: Int
    /// The number of open subscriptions.
    public var subscribers: Int
    /// The number of open screens.
    public var screens: Int
    /// The problems, one sentence each; empty when there are none.
    public var problems: [String]
    /// The size of the store's files, in bytes.
    public var storeBytes: Int
    /// The past notifications that are kept; nil while they are being counted.
    public var past: Past?

    /// How many past notifications are kept, and the limits; nil: no limit.
    public struct Past: Sendable, Hashable {
        /// How many are kept.
        public var count: Int
        /// Their size in bytes.
        public var bytes: Int
        /// The most that are kept.
        public var most: Int
        /// The most bytes that are kept.
        public var mostBytes: Int?
        /// The age, in days before the newest one, after which they are removed.
        public var mostDays: Int?
    }
}
