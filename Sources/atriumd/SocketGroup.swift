import Glibc
import Synchronization

/// The group of a socket that the daemon makes: `atrium`, where there is one to which the daemon may give files,
/// else the daemon's own.
final class SocketGroup: Sendable {
    private let found = Mutex<gid_t?>(nil)

    /// Its number; nil: nobody has asked yet, or the system's directory has not answered.
    var known: gid_t? { found.withLock { $0 } }

    /// Asks the system's directory, once; blocks, for as long as that takes.
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
