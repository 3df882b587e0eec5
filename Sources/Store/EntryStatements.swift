internal import GRDB

/// The statements that write a group of entries, prepared once for the writer's connection.
final class EntryStatements {
    let begin: PreparedStatement
    let commit: PreparedStatement
    let rollback: PreparedStatement
    let appendEntry: PreparedStatement
    /// Removes the changes from an entry's row.
    let redactEntry: PreparedStatement
    let setPosition: PreparedStatement
    /// Selects a record's creation and sum, and 0.
    let find: PreparedStatement
    /// Selects the same, and whether the record is purged.
    let findBesidePurges: PreparedStatement
    let insert: PreparedStatement
    /// Inserts a record; does nothing if there is one with its key.
    let insertNew: PreparedStatement
    let update: PreparedStatement
    let remove: PreparedStatement

    init(_ db: Database) throws {
        begin = try PreparedStatement("BEGIN IMMEDIATE", db)
        commit = try PreparedStatement("COMMIT", db)
        rollback = try PreparedStatement("ROLLBACK", db)
        appendEntry = try PreparedStatement(
            """
            INSERT INTO entries(
                sequence, container, position, time, actor, topic, public, restricted, changes, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """, db)
        redactEntry = try PreparedStatement(
            "UPDATE entries SET changes = NULL, sum = ?1 WHERE sequence = ?2", db)
        setPosition = try PreparedStatement(
            "UPDATE containers SET position = ?1, rowsum = ?2 WHERE id = ?3", db)
        find = try PreparedStatement(
            "SELECT created, sum, 0 FROM records WHERE component = ?1 AND key = ?2", db)
        findBesidePurges = try PreparedStatement(
            """
            SELECT created, sum, \(Purged.condition) FROM records
            WHERE component = ?1 AND key = ?2
            """, db)
        insert = try PreparedStatement(
            """
            INSERT INTO records(component, key, value, sequence, created, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, db)
        insertNew = try PreparedStatement(
            """
            INSERT OR IGNORE INTO records(component, key, value, sequence, created, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, db)
        update = try PreparedStatement(
            """
            UPDATE records SET value = ?3, sequence = ?4, created = ?5, sum = ?6
            WHERE component = ?1 AND key = ?2
            """, db)
        remove = try PreparedStatement("DELETE FROM records WHERE component = ?1 AND key = ?2", db)
    }

    /// The error for a statement used outside of a transaction.
    static var missing: DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "no transaction was begun")
    }
}
