public import FaultVFS
import Synchronization

/// The files of a store beneath which things go wrong: see `FaultVFS.h`.
///
/// Unchecked: the plan has a lock of its own.
public final class FaultFiles: @unchecked Sendable {
    private let plan: OpaquePointer
    /// All that ever watched: one may be called still while another one takes its place.
    private let watchers = Mutex<[SyncWatcher]>([])

    /// Watches over what SQLite opens in the directory from now on.
    public init(_ directory: String) {
        plan = fault_plan_make(directory)
    }

    deinit { fault_plan_free(plan) }

    /// How many calls that change a file there were.
    public var calls: Int { Int(fault_plan_calls(plan)) }

    /// How many reads there were.
    public var reads: Int { Int(fault_plan_reads(plan)) }

    /// Lets some calls fail, from one of them on.
    public func fail(_ kind: FaultKind, at call: Int, count: Int, seed: UInt64) {
        fault_plan_set(plan, kind, Int64(call), Int64(count), seed)
    }

    /// Lets the first call fail that comes after so many more syncs.
    public func fail(_ kind: FaultKind, afterSyncs count: Int) {
        fault_plan_set_after_syncs(plan, kind, Int64(count))
    }

    /// Whether what was to fail after some syncs has.
    public var hasFailed: Bool { fault_plan_has_failed(plan) != 0 }

    /// Calls back before each sync from now on, on the thread that syncs.
    public func beforeSyncs(_ body: @escaping @Sendable () -> Void) {
        let watcher = SyncWatcher(body)
        watchers.withLock { $0.append(watcher) }
        fault_plan_watch_syncs(
            plan,
            { pointer in
                guard let pointer else { return }
                Unmanaged<SyncWatcher>.fromOpaque(pointer).takeUnretainedValue().body()
            }, Unmanaged.passUnretained(watcher).toOpaque())
    }

    /// No call changes a file any more.
    public func crash() { fault_plan_crash(plan) }

    /// Takes away some of what was written and not synced, of files that nobody has open.
    public func cutPower(seed: UInt64) { fault_plan_cut_power(plan, seed) }
}

/// Who is called before a sync.
private final class SyncWatcher: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
