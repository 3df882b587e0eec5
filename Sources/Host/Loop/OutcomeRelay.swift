import NIOCore
import Store
import Synchronization

/// Brings the store's outcomes from its thread to the registry, which is made after the store.
final class OutcomeRelay: Sendable {
    private struct Target {
        weak var registry: Registry?
        var loop: any EventLoop
    }

    private let target = Mutex<Target?>(nil)

    /// Passes outcomes to this registry from now on; nothing can have been appended before.
    func connect(_ registry: Registry, _ loop: any EventLoop) {
        target.withLock { $0 = Target(registry: registry, loop: loop) }
    }

    /// Takes outcomes on the store's thread.
    func pass(_ outcomes: [Outcome]) {
        guard let target = target.withLock({ $0 }), let registry = target.registry else { return }
        target.loop.execute { registry.domain.settle(outcomes) }
    }
}
