import Synchronization

/// A value that is made at its first use and shared from then on.
struct MadeOnce<Value: Sendable>: ~Copyable, Sendable {
    private let made = Mutex<Value?>(nil)

    /// Returns the value; the first call makes it with `make`.
    func value(_ make: () -> Value) -> Value {
        made.withLock { made in
            if let made { return made }
            let value = make()
            made = value
            return value
        }
    }
}
