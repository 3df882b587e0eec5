import FaultVFS
import Foundation

/// The files of a store beneath which things go wrong: see `FaultVFS.h`.
///
/// Unchecked: the plan has a lock of its own.
final class FaultFiles: @unchecked Sendable {
    private let plan: OpaquePointer

    /// Watches over what SQLite opens in the directory from now on.
    init(_ directory: String) {
        plan = fault_plan_make(directory)
    }

    deinit { fault_plan_free(plan) }

    /// How many calls that change a file there were.
    var calls: Int { Int(fault_plan_calls(plan)) }

    func fail(_ kind: FaultKind, at call: Int, count: Int, seed: UInt64) {
        fault_plan_set(plan, kind, Int64(call), Int64(count), seed)
    }

    /// No call changes a file any more.
    func crash() { fault_plan_crash(plan) }

    /// Takes away some of what was written and not synced, of files that nobody has open.
    func cutPower(seed: UInt64) { fault_plan_cut_power(plan, seed) }
}
