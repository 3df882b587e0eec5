internal import Foundation
internal import GRDB

/// Recounts a file's rows and their sums, while nobody writes to it.
enum StoreRecount {
    /// Returns the first damage found in a file of the current format, as a sentence; nil: none.
    static func damage(_ db: Database) throws -> String? {
        try TableCheck.problems(db).first ?? damagedRecords(db) ?? damagedEntries(db)
    }

    private static func damagedRecords(_ db: Database) throws -> String? {
        let components = try Row.fetchAll(
            db,
            sql: """
                SELECT o.name, c.name FROM components c JOIN containers o ON o.id = c.container
                """)
        // Changes not yet written to the records are checked by their entries' own sums.
        let late = LateRecords(Tail(), applied: .max).current
        for row in components {
            let (container, component): (String, String) = (row.text(0) ?? "", row.text(1) ?? "")
            var count = 0
            var tally = RecordTally()
            let scan = try RecordScan(container, component, late, db)
            try scan.run(after: nil, &tally) { _, value, _ in
                if value == nil { count += 1 }
                return true
            }
            let name = container.isEmpty ? "the registry" : "\(container)/\(component)"
            if count > 0 {
                return count == 1
                    ? "1 record of \(name) does not match its checksum"
                    : "\(count) records of \(name) do not match their checksums"
            }
            guard let difference = tally.difference else { continue }
            return
                "\(name) has \(difference.found) records instead of \(difference.expected), or wrong ones"
        }
        return nil
    }

    private static func damagedEntries(_ db: Database) throws -> String? {
        let log = try LogRecount(db)
        while true {
            let slice = try log.next(db)
            if let sequence = slice.damaged.first {
                return "entry \(sequence) of the log does not match its checksum"
            }
            if slice.missing > 0 {
                return "\(slice.missing) entr\(slice.missing == 1 ? "y" : "ies") of the log "
                    + "\(slice.missing == 1 ? "is" : "are") missing"
            }
            if slice.isEnd { return nil }
        }
    }
}
