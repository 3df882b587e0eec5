internal import Dispatch
internal import Synchronization

/// A question to the system's directory of users (NSS: files, LDAP, …), which may take as long as a network
/// does, or for ever.
public enum DirectoryQuestion {
    /// Runs a query on a thread of its own, and waits for its answer at most this long: blocks.
    ///
    /// An answer that comes later is dropped.
    public static func answer<Answer: Sendable>(
        within limit: Duration, _ ask: @escaping @Sendable () -> Answer
    ) -> Answer? {
        let answer = Box<Answer>()
        let answered = DispatchSemaphore(value: 0)
        DispatchQueue(label: "atrium.directory").async {
            let value = ask()
            answer.value.withLock { $0 = value }
            answered.signal()
        }
        let (seconds, attoseconds) = limit.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        guard answered.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else {
            return nil
        }
        return answer.value.withLock { $0 }
    }

    private final class Box<Answer: Sendable>: Sendable {
        let value = Mutex<Answer?>(nil)
    }
}
