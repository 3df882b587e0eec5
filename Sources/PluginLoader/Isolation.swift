/// Where a component lives.
public enum Isolation: String, Sendable, Hashable, CaseIterable {
    /// In the daemon.
    case daemon
    /// In a worker process of its own.
    case process
}
