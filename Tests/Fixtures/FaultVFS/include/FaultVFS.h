#ifndef ATRIUM_FAULT_VFS_H
#define ATRIUM_FAULT_VFS_H

#include <stdint.h>

/// What goes wrong beneath SQLite.
typedef enum {
    FaultNone,
    /// The call does nothing and fails with an I/O error.
    FaultError,
    /// A write fails for want of space; other calls fail with an I/O error.
    FaultFull,
    /// A write gets its first sectors onto the file, and fails.
    FaultShort,
    /// A write gets some of its sectors onto the file, and fails.
    FaultTorn,
    /// A sync does nothing and succeeds.
    FaultLostSync,
    /// The call does nothing, and neither does any after it: all fail.
    FaultCrash,
    /// A read gets nothing and fails with an I/O error. Reads are counted for themselves.
    FaultRead,
    /// The process is killed in place of the call.
    FaultKill,
    /// The process is killed by the first write that finds no room on the disk.
    FaultKillFull,
} FaultKind;

/// The files of one directory, of which it is known what a power cut would leave.
///
/// A VFS that is SQLite's default keeps it: it passes everything on to the one before it. Used on any thread.
typedef struct FaultPlan FaultPlan;

/// Watches over files that SQLite opens in a directory from now on.
FaultPlan *_Nonnull fault_plan_make(const char *_Nonnull directory);

/// It goes with the last of its files that is open, and does to that what it was last told.
void fault_plan_free(FaultPlan *_Nonnull plan);

/// Lets calls fail; writes, syncs, truncations and deletions are counted, the first is 0; for `FaultRead` reads are.
///
/// - at: the first call that does. Those that the kind does not concern go well.
/// - count: how many calls do, from it on.
void fault_plan_set(
    FaultPlan *_Nonnull plan, FaultKind kind, int64_t at, int64_t count, uint64_t seed);

/// Lets the first call fail that comes after so many more syncs.
void fault_plan_set_after_syncs(FaultPlan *_Nonnull plan, FaultKind kind, int64_t syncs);

/// Calls a function before each sync from now on, with what is given.
void fault_plan_watch_syncs(
    FaultPlan *_Nonnull plan, void (*_Nonnull watch)(void *_Nullable), void *_Nullable watcher);

/// Whether the call that was to fail so was made.
int fault_plan_has_failed(FaultPlan *_Nonnull plan);

/// How many calls there were.
int64_t fault_plan_calls(FaultPlan *_Nonnull plan);

/// How many reads there were.
int64_t fault_plan_reads(FaultPlan *_Nonnull plan);

/// From now on everything that would change a file fails, as after a crash.
void fault_plan_crash(FaultPlan *_Nonnull plan);

/// Leaves of what was written and not synced what a power cut would: any sectors.
///
/// All files are closed by then.
void fault_plan_cut_power(FaultPlan *_Nonnull plan, uint64_t seed);

#endif
