import Glibc

/// The limit of open file descriptors: each connection needs one.
enum OpenFiles {
    /// The limit in the unit file, which exceeds the limit of connections.
    private static let wanted: rlim_t = 65_536

    /// Raises the soft limit, usually 1,024 for a program started by hand, as far as the hard limit allows.
    static func raiseLimit() {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        setrlimit(files, &limit)
    }
}
