internal import Dispatch
import Store

/// A backup that a client reads part by part.
///
/// Used on the event loop; the work runs on the backup's own queue.
final class OpenBackup {
    /// Runs the copy of the store and the reads of its parts, one after the other; no other work waits for it.
    let queue = DispatchQueue(label: "atrium.backup", qos: .utility)
    let making = BackupMaking()
    /// The copy; nil until it is complete.
    var copy: Backup?
    /// The offset of the next part.
    var offset = 0
    /// Whether a part was requested since the last check, or is being read.
    var isFollowed = true
    /// Whether a part is being read.
    var isBusy = false
}

/// The open backups.
///
/// Each has a file as big as the store: at most two may be open, and one whose parts are no longer requested is
/// closed.
final class BackupTable {
    /// The most backups that may be open.
    static let most = 2
    /// Whether the periodic check for abandoned backups is running.
    var isWatched = false
    private var backups: [BackupID: OpenBackup] = [:]
    private var last: UInt64 = 0

    var count: Int { backups.count }

    subscript(id: BackupID) -> OpenBackup? { backups[id] }

    func add(_ backup: OpenBackup) -> BackupID {
        last += 1
        let id = BackupID(number: last)
        backups[id] = backup
        return id
    }

    func remove(_ id: BackupID) { backups.removeValue(forKey: id)?.making.cancel() }

    func removeAll() {
        for id in backups.keys { remove(id) }
    }

    /// Closes the backups of which no part was requested since the last call.
    func endForsaken() {
        for (id, backup) in backups where !backup.isBusy {
            if !backup.isFollowed { remove(id) }
            backup.isFollowed = false
        }
    }
}
