internal import GRDB

/// The rows of the table `meta`: the store's own values, and the numbers of rows of the other small tables.
enum Meta: String, CaseIterable {
    case identity
    /// The last sequence that was trimmed.
    case trimmed
    /// The last sequence whose changes are written to the records.
    case applied
    case containers
    case components
    case purges
    case actors

    /// Fills the table of a new file.
    static func make(in db: Database, identity: String) throws {
        for name in allCases {
            try db.execute(
                sql: "INSERT INTO meta(name, value, rowsum) VALUES (?, 0, ?)",
                arguments: [name.rawValue, RowSum.meta(name.rawValue, "0")])
        }
        try set(identity: identity, db)
    }

    /// Sets another identity of the store.
    static func set(identity: String, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE meta SET value = ?, rowsum = ? WHERE name = 'identity'",
            arguments: [identity, RowSum.meta(Self.identity.rawValue, identity)])
    }

    /// Changes a number, and the row's sum by the difference only, so that existing damage is still detected.
    ///
    /// - Throws: ``LostNumber`` if there is no such number; for `applied`, without which nothing can be written,
    ///   SQLite's error for a damaged file.
    func change(_ db: Database, _ body: (Int64) throws -> Int64) throws {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT value, rowsum FROM meta WHERE name = ?"),
            arguments: [rawValue])
        guard let row, let old = row.number(0), let sum = row.number(1) else {
            guard self == .applied else { throw LostNumber(name: rawValue) }
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "the file does not say what was applied")
        }
        let new = try body(old)
        guard new != old else { return }
        let change = RowSum.meta(rawValue, "\(old)") ^ RowSum.meta(rawValue, "\(new)")
        try db.cachedStatement(sql: "UPDATE meta SET value = ?, rowsum = ? WHERE name = ?")
            .execute(arguments: [new, sum ^ change, rawValue])
    }
}

/// A number of the table `meta` that is missing or not a number; the start reports it.
///
/// It is not an SQLite error, because the rest of the file remains usable.
struct LostNumber: Error, CustomStringConvertible {
    var name: String

    var description: String { "the table meta has no number '\(name)': restore a backup" }
}
