internal import Dispatch
import Store

/// A backup that somebody takes part by part.
///
/// Used on the event loop; the work is done on its own thread.
final class OpenBackup {
    /// Where the store is copied and the parts are read: one after the other, and in nobody's way.
    let queue = DispatchQueue(label: "atrium.backup", qos: .utility)
    let making = BackupMaking()
    /// The copy, once it is there.
    var copy: Backup?
    /// Where the next part begins.
    var offset = 0
    /// Whether a part was asked for since the last look at it, or is being made.
    var isFollowed = true
    /// Whether a part is being made.
    var isBusy = false
}

/// The backups that are open.
///
/// Each has a file as big as the store: two may be open, and one whose reader is gone without a word is ended.
final class BackupTable {
    /// How many may be open.
    static let most = 2
    /// Whether somebody looks after forsaken ones.
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

    /// Ends those of which no part was asked for since the last call.
    func endForsaken() {
        for (id, backup) in backups where !backup.isBusy {
            if !backup.isFollowed { remove(id) }
            backup.isFollowed = false
        }
    }
}
