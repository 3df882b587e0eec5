public import NIOCore
import Store

// How far it is, and that something changed: for whoever tells an administrator.
extension Registry {
    /// How far ``load(_:)`` is.
    public func loadProgress() -> LoadProgress {
        LoadProgress(
            containers: containers.count, loaded: containers.values.count { !$0.isLoading },
            records: domain.recordsRead.value, steps: domain.steps)
    }

    /// Tells what ``status()`` says whenever it may have changed, at most once in a while.
    ///
    /// Nothing is told, and no timer runs, while nothing happens; only a store that takes no writes
    /// is looked after until it does.
    ///
    /// - Parameters:
    ///   - interval: how long to wait after a change for others that follow it.
    ///   - body: called on the loop with the status of that moment.
    public func watchStatus(
        every interval: TimeAmount, _ body: @escaping @Sendable (RegistryStatus) -> Void
    ) {
        domain.changes.watch(every: interval) { [self] in
            body(status())
            if domain.store.unavailability != nil { domain.changes.note() }
        }
    }
}

/// How far a registry has come with what its store holds.
public struct LoadProgress: Sendable, Hashable {
    /// The containers that there are.
    public var containers: Int
    /// Those whose components are all attached or have failed.
    public var loaded: Int
    /// The records that were read for components.
    public var records: Int
    /// Grows with all that is done, also between records.
    public var steps: Int
}
