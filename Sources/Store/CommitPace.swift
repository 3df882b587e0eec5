/// How long the writer waits for more entries before it takes those that wait.
///
/// On a slow disk it waits up to an eighth of a commit's time, so that callers who have just got their outcomes can
/// append again. Otherwise two halves of them would alternate, each waiting for the other's commit.
struct CommitPace {
    /// The smallest group for which waiting is worthwhile: most of its callers will append again.
    private static let fewestTogether = 8
    /// The shortest commit, in nanoseconds, after which waiting is worthwhile.
    private static let slowCommit: Int64 = 1_000_000
    private static let longestWait: Int64 = 500_000

    /// The last commit: its number of entries, its duration and its end, in nanoseconds.
    private var last: (entries: Int, time: Int64, end: Int64) = (0, 0, 0)

    mutating func record(_ entries: Int, from begin: Int64, to end: Int64) {
        last = (entries, end - begin, end)
    }

    /// The time to wait now, in nanoseconds; none if it is not positive.
    var wait: Int64 {
        guard last.entries >= Self.fewestTogether, last.time >= Self.slowCommit else { return 0 }
        return last.end + min(last.time / 8, Self.longestWait) - StoreMeters.now()
    }
}
