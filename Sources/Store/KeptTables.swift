internal import Foundation
internal import GRDB

// Damaged rows of the small tables: every start finds them again, and the first one copies the store.
extension KeptDamage {
    private static func copy(beside file: String) -> String { "\(file).damaged-tables" }

    /// Copies a store whose small tables are damaged, before anything is written to it.
    ///
    /// Only one copy is made: while its note exists, later starts make none. If no copy can be made, the store is
    /// used nevertheless: the damage is found again, and the note says why there is no copy.
    static func copyStore(_ pool: DatabasePool, of file: String) {
        let copy = copy(beside: file)
        let note = copy + suffix
        guard access(note, F_OK) != 0 else { return }
        var kept =
            "a copy of the file as it was then is kept in \(copy): remove both once it is settled"
        do {
            guard room(beside: file) > 2 * size(of: file) else {
                throw DatabaseError(message: "there was no room for it")
            }
            try write("", to: copy)
            let target = try DatabaseQueue(path: copy)
            defer { try? target.close() }
            // Page by page, so the copy includes what the pages contain beside the rows.
            try pool.backup(to: target)
        } catch {
            // A link is somebody's own, and the reason says what to do with it.
            if !StateFolder.isLink(copy) { unlink(copy) }
            let reason = (error as? DatabaseError)?.message ?? "\(error)"
            kept = "no copy of the file as it was then could be kept: \(reason)"
        }
        try? write("rows of the store's small tables were found damaged; \(kept)\n", to: note)
    }

    /// Leaves out the note about the small tables if their damage was found again.
    static func unlessFoundAgain(
        _ damages: [KeptDamage], _ problems: [String], in file: String
    ) -> [KeptDamage] {
        guard !problems.isEmpty else { return damages }
        return damages.filter { $0.note != copy(beside: file) + suffix }
    }
}
