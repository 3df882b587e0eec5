public import NIOCore
import Store

// Changes of the status, for whoever reports them to an administrator.
extension Registry {
    /// Calls back with ``status(hasDetails:)`` whenever that may have changed, at most once an interval.
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
            body(status(hasDetails: false))
            if domain.store.unavailability != nil { domain.changes.schedule() }
        }
    }
}
