public import NIOCore
import Store

// Progress of the load, and changes of the status, for whoever reports them to an administrator.
extension Registry {
    /// The progress of ``load(_:known:)``.
    public func loadProgress() -> LoadProgress {
        LoadProgress(
            containers: containers.count,
            loaded: containers.values.count { !$0.loading.isUnderWay },
            records: domain.recordsRead.value, steps: domain.steps)
    }

    /// Calls back with ``status()`` whenever that may have changed, at most once an interval.
    ///
    /// While nothing changes there are no calls and no timers. The exception is a store that takes no writes: the
    /// status is then checked in every interval.
    ///
    /// - Parameters:
    ///   - interval: how long to wait after a change for further ones.
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

/// The progress of a registry that loads its store.
public struct LoadProgress: Sendable, Hashable {
    /// The number of containers.
    public var containers: Int
    /// The number of containers whose components are all attached or have failed.
    public var loaded: Int
    /// The number of records that were read for components.
    public var records: Int
    /// Increases with all work that is done, also between records.
    public var steps: Int
}
