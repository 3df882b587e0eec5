import CSystemd
import Glibc

/// The service manager's store for descriptors.
///
/// Descriptors in the store stay open while the service is restarted, also after a crash, and are passed to the next
/// process with the listening sockets.
///
/// Promises: messages arrive in the order of the calls. A stored descriptor is passed on at each start until it is
/// removed. The manager drops all of them when the service is stopped for good, and drops a connection by itself when
/// its peer has hung up. The store can't be read: a caller that needs to know its contents has to keep count.
public struct DescriptorStore: Sendable {
    /// The number of descriptors that the store takes; the manager closes any more.
    public let capacity: Int

    /// Descriptors in one message: more than the kernel passes at once are refused.
    private static let batch = 253

    /// Creates the store of this service; nil without a manager, or without a store.
    ///
    /// systemd 254 and later sets `FDSTORE` in the environment to the store's capacity (`FileDescriptorStoreMax=`); for
    /// older versions the unit has to set it.
    public init?(environment: (String) -> String?) {
        guard environment("NOTIFY_SOCKET") != nil,
            let capacity = environment("FDSTORE").flatMap({ Int($0) }), capacity > 0
        else { return nil }
        self.capacity = capacity
    }

    /// Puts descriptors into the store, to be passed on with a name that several may have; the caller keeps its own.
    ///
    /// Returns whether the message was sent to the manager.
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
    public func remove(_ name: String) {
        _ = sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// Waits until the manager has handled all messages that it was sent, at most this long; returns whether it has.
    @discardableResult
    public func wait(upTo limit: Duration) -> Bool {
        let microseconds = UInt64(max(0, limit / .microseconds(1)))
        return sd_notify_barrier(0, microseconds) > 0
    }
}
