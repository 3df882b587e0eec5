internal import Foundation

// Damage for which SQLite's error stands: nothing is written to the file any more, also after a restart.
extension KeptDamage {
    private static let databaseNote = ".damaged-database\(suffix)"

    /// Whether it keeps the store from being written to: SQLite found the file damaged in an earlier run.
    var forbidsWrites: Bool { note.hasSuffix(Self.databaseNote) }

    /// Why a store with such damage is only read, for people.
    var refusal: String {
        "its file was found damaged, and is only read: restore a backup (\(note) says more)"
    }

    /// Writes a note that a store's file was found damaged, by SQLite or by a number in it that can't be.
    ///
    /// No copy is made, because no change is written as long as the note exists.
    static func writeNote(ofDatabaseDamage reason: String, in file: String) throws(StoreError) {
        let note = file + databaseNote
        guard access(note, F_OK) != 0 else { return }
        try write(
            "at \(time()) \(file) was found damaged (\(reason)): it is only read since. Restore a backup; "
                + "or, if something else was at fault and the file is whole, remove \(note) and restart\n",
            to: note)
    }
}
