import Store
import Synchronization

/// Passes outcomes from the store's thread to the registry, which is made after the store.
final class OutcomeRelay: Sendable {
    private let target = Mutex<(@Sendable ([Outcome]) -> Void)?>(nil)

    /// Sets where outcomes go; call it before anything is appended.
    func connect(_ target: @escaping @Sendable ([Outcome]) -> Void) {
        self.target.withLock { $0 = target }
    }

    /// Passes outcomes on; called on the store's thread.
    func pass(_ outcomes: [Outcome]) { target.withLock(\.self)?(outcomes) }
}
