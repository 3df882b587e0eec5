internal import GRDB

/// What the table `meta` holds: the store's own values, and how many rows the other small tables have.
enum Meta: String, CaseIterable {
    case identity
    /// Through which sequence entries were trimmed.
    case trimmed
    /// Through which sequence the records are.
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

    /// Gives the store another identity.
    static func set(identity: String, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE meta SET value = ?, rowsum = ? WHERE name = 'identity'",
            arguments: [identity, RowSum.meta(Self.identity.rawValue, identity)])
    }

    /// Changes a number, and the row's sum by what changes alone: damage that is there is found as before.
    ///
    /// - Throws: ``LostNumber`` where there is no such number; what SQLite says of a damaged file for `applied`, without
    ///   which nothing can be written.
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

/// A number of the table `meta` that is gone, or is none: a start names it.
///
/// No error of SQLite's: the rest of the file goes on.
struct LostNumber: Error, CustomStringConvertible {
    var name: String

    var description: String { "the table meta has no number '\(name)': restore a backup" }
}
