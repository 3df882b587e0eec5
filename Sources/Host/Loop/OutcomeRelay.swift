import Store
import Synchronization

/// Brings the store's outcomes from its thread to the registry, which is made after the store.
final class OutcomeRelay: Sendable {
    private let target = Mutex<(@Sendable ([Outcome]) -> Void)?>(nil)

    /// Passes outcomes on from now on; nothing can have been appended before.
    func connect(_ target: @escaping @Sendable ([Outcome]) -> Void) {
        self.target.withLock { $0 = target }
    }

    /// Takes outcomes on the store's thread.
    func pass(_ outcomes: [Outcome]) { target.withLock(\.self)?(outcomes) }
}
