import Glibc
import Synchronization

/// The group of a socket that the daemon creates.
///
/// It is `atrium` if that exists and the daemon may give files to it, else the daemon's own group.
final class SocketGroup: Sendable {
    private let found = Mutex<gid_t?>(nil)

    /// Its id; nil: it was not queried yet, or the system's directory has not answered.
    var known: gid_t? { found.withLock { $0 } }

    /// Queries the system's directory, once; blocks meanwhile.
    func ask() -> gid_t {
        if let known { return known }
        var group = getegid()
        if let entry = getgrnam("atrium"), Self.mayGive(to: entry.pointee.gr_gid) {
            group = entry.pointee.gr_gid
        }
        found.withLock { $0 = group }
        return group
    }

    private static func mayGive(to group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: 1_024)
        let count = getgroups(Int32(groups.count), &groups)
        return ownUser == 0 || getegid() == group
            || groups.prefix(Int(max(0, count))).contains(group)
    }
}
