internal import GRDB

/// What a group of entries runs, prepared once for the writer's connection.
struct EntryStatements {
    let begin: Statement
    let commit: Statement
    let rollback: Statement
    let appendEntry: Statement
    /// Takes the changes out of an entry.
    let redactEntry: Statement
    let setPosition: Statement
    let setApplied: Statement
    /// A record's creation and sum, and 0.
    let find: Statement
    /// The same, and whether it is purged.
    let findBesidePurges: Statement
    let insert: Statement
    let update: Statement
    let remove: Statement

    init(_ db: Database) throws {
        begin = try Statement("BEGIN IMMEDIATE", db)
        commit = try Statement("COMMIT", db)
        rollback = try Statement("ROLLBACK", db)
        appendEntry = try Statement(
            """
            INSERT INTO entries(
                sequence, container, position, time, actor, topic, public, restricted, changes, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """, db)
        redactEntry = try Statement(
            "UPDATE entries SET changes = NULL, sum = ?1 WHERE sequence = ?2", db)
        setPosition = try Statement("UPDATE containers SET position = ?1 WHERE id = ?2", db)
        setApplied = try Statement("UPDATE meta SET value = ?1 WHERE name = 'applied'", db)
        find = try Statement(
            "SELECT created, sum, 0 FROM records WHERE component = ?1 AND key = ?2", db)
        findBesidePurges = try Statement(
            """
            SELECT created, sum, \(Purged.condition) FROM records
            WHERE component = ?1 AND key = ?2
            """, db)
        insert = try Statement(
            """
            INSERT INTO records(component, key, value, sequence, created, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, db)
        update = try Statement(
            """
            UPDATE records SET value = ?3, sequence = ?4, created = ?5, sum = ?6
            WHERE component = ?1 AND key = ?2
            """, db)
        remove = try Statement("DELETE FROM records WHERE component = ?1 AND key = ?2", db)
    }

    /// A statement is asked for outside of a transaction.
    static var missing: DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "no transaction was begun")
    }
}
