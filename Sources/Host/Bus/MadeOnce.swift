import Synchronization

/// What is made when it is asked for first, and shared by all who ask after that.
struct MadeOnce<Value: Sendable>: ~Copyable, Sendable {
    private let made = Mutex<Value?>(nil)

    /// The value; `make` makes it if nobody has asked before.
    func value(_ make: () -> Value) -> Value {
        made.withLock { made in
            if let made { return made }
            let value = make()
            made = value
            return value
        }
    }
}
