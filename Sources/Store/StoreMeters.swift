import CoreMetrics
import Glibc

/// The writer's transaction metrics, recorded through swift-metrics.
struct StoreMeters: Sendable {
    private let entries = Recorder(label: "atrium_commit_entries")
    private let transaction = Timer(label: "atrium_commit_seconds")
    private let sync = Timer(label: "atrium_sync_seconds")

    /// The time of the monotonic clock, in nanoseconds.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Records a transaction that has just committed, by the number of its entries, and the nanoseconds when it began
    /// and when everything was written.
    func record(_ count: Int, began: Int64, written: Int64) {
        let now = Self.now()
        entries.record(count)
        transaction.recordNanoseconds(now &- began)
        sync.recordNanoseconds(now &- written)
    }
}
