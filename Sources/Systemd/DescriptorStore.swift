import CSystemd
import Glibc

/// The service manager's store for descriptors: what is put into it stays open while the service is
/// restarted, also after a crash, and is passed to the next process with the listening sockets.
///
/// Promises: messages arrive in the order of the calls. What is in the store is passed on at each
/// start until it is removed; the manager drops it when the service is stopped for good, and a
/// connection whose peer has hung up by itself. Nothing is ever read back: whoever wants to know
/// what is in the store has kept count.
public struct DescriptorStore: Sendable {
    /// How many descriptors the store takes; more are closed by the manager.
    public let capacity: Int

    /// Descriptors in one message: more than the kernel passes at once are refused.
    private static let batch = 253

    /// The store of this service; nil without a manager, and without a store.
    ///
    /// systemd 254 and later says by `FDSTORE` in the environment how much its store takes
    /// (`FileDescriptorStoreMax=`); for older ones the unit has to say so.
    ///
    /// - Parameter environment: Reads a variable.
    public init?(environment: (String) -> String?) {
        guard environment("NOTIFY_SOCKET") != nil,
            let capacity = environment("FDSTORE").flatMap({ Int($0) }), capacity > 0
        else { return nil }
        self.capacity = capacity
    }

    /// Puts descriptors into the store; the caller keeps its own.
    ///
    /// - Parameters:
    ///   - descriptors: What to keep.
    ///   - name: What they are called when they are passed on; several may have the same name.
    /// - Returns: Whether the message was sent to the manager.
    @discardableResult
    public func add(_ descriptors: [Int32], name: String) -> Bool {
        var rest = descriptors[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.batch))
            let state = "FDSTORE=1\nFDNAME=\(name)"
            guard sd_pid_notify_with_fds(0, 0, state, part, UInt32(part.count)) > 0 else {
                return false
            }
            rest = rest.dropFirst(part.count)
        }
        return true
    }

    /// Removes all descriptors of a name from the store.
    ///
    /// - Parameter name: What they are called.
    public func remove(_ name: String) {
        _ = sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// Waits until the manager has handled all messages that it was sent.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: Whether it has.
    @discardableResult
    public func wait(upTo limit: Duration) -> Bool {
        let microseconds = UInt64(max(0, limit / .microseconds(1)))
        return sd_notify_barrier(0, microseconds) > 0
    }
}
