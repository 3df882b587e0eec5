internal import Foundation
internal import GRDB

// Rows of the small tables that are not what was written: each start finds them again, and the first one keeps a copy.
extension KeptDamage {
    private static func copy(beside file: String) -> String { "\(file).damaged-tables" }

    /// Keeps a copy of a store in whose small tables a start has found damage, before anything is written.
    ///
    /// Made once: as long as the copy's note is there, a later start keeps no other. Where no copy can be made, the
    /// store is used all the same: what is damaged is found again, and the note says why there is none.
    ///
    /// - Parameters:
    ///   - pool: the store, to which nobody has written yet.
    ///   - file: its path.
    static func keep(tables pool: DatabasePool, of file: String) {
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
            // Page by page, so with what stands in pages beside the rows.
            try pool.backup(to: target)
        } catch {
            unlink(copy)
            let reason = (error as? DatabaseError)?.message ?? "\(error)"
            kept = "no copy of the file as it was then could be kept: \(reason)"
        }
        try? write("rows of the store's small tables were found damaged; \(kept)\n", to: note)
    }

    /// The damages without the note about the small tables, where these were found damaged again.
    static func unlessFoundAgain(
        _ damages: [KeptDamage], _ problems: [String], in file: String
    ) -> [KeptDamage] {
        guard !problems.isEmpty else { return damages }
        return damages.filter { $0.note != copy(beside: file) + suffix }
    }
}
