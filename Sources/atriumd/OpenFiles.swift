import Glibc

/// How many descriptors the process may have: each connection is one.
enum OpenFiles {
    /// As many as the unit file asks for, and more than there may be connections.
    private static let wanted: rlim_t = 65_536

    /// Raises the soft limit, which is 1,024 for most who start a program by hand, as far as it goes.
    static func raiseLimit() {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        setrlimit(files, &limit)
    }
}
