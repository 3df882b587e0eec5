internal import Foundation
internal import GRDB

/// The tables, and how an older file becomes a current one.
///
/// Keys and actors' names are blobs, so that every string survives, with U+0000 in it too; a look at
/// them with the sqlite3 shell needs `CAST(key AS TEXT)`.
enum Schema {
    /// SQLite's application id of our files: "Atrm".
    static let applicationID = 0x4174_726D

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: first)
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: "INSERT INTO meta(name, value) VALUES ('identity', ?), ('trimmed', 0)",
                arguments: [UUID().uuidString.lowercased()])
        }
        migrator.registerMigration("v2") { db in
            try db.execute(sql: second)
        }
        return migrator
    }

    /// What was purged and is still to be deleted: keys from `first` on before `last` (empty: to the
    /// end) of records that were last written by the entry `through` or one before; where `item` is not
    /// empty, those about that item alone.
    private static let second = """
        CREATE TABLE purges(
            id INTEGER PRIMARY KEY, component INTEGER NOT NULL, item BLOB NOT NULL,
            first BLOB NOT NULL, last BLOB NOT NULL, through INTEGER NOT NULL);
        CREATE UNIQUE INDEX purges_place ON purges(component, item, last);
        """

    private static let first = """
        CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
        CREATE TABLE containers(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL);
        CREATE TABLE components(
            id INTEGER PRIMARY KEY, container INTEGER NOT NULL REFERENCES containers,
            name TEXT NOT NULL, UNIQUE(container, name));
        CREATE TABLE entries(
            sequence INTEGER PRIMARY KEY, container INTEGER NOT NULL, position INTEGER NOT NULL,
            time INTEGER NOT NULL, actor INTEGER);
        CREATE TABLE records(
            component INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
            sequence INTEGER NOT NULL, created INTEGER NOT NULL,
            PRIMARY KEY(component, key)) WITHOUT ROWID;
        CREATE TABLE notifications(
            sequence INTEGER PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL,
            restricted BLOB);
        CREATE TABLE actors(number INTEGER PRIMARY KEY, name BLOB NOT NULL);
        CREATE TABLE probe(id INTEGER PRIMARY KEY, filler BLOB NOT NULL);
        """
}
