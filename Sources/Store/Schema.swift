internal import GRDB

/// The tables.
///
/// - `entries` is only appended to, and an acknowledgement waits for that alone. An entry's `changes` are made to
///   `records` in a later transaction, which sets them NULL; `meta` says through which sequence (`applied`).
/// - Sums are those of `Sums.swift`. A component's `records` and `sum` are the count and the exclusive or of the
///   sums of its rows.
/// - `rowsum` is the sum of the row itself, in the tables that have few. `meta` says how many rows each of the others has.
/// - `purges` are what was purged and is still to be deleted: keys from `first` on before `last` (empty:
///   to the end) of records that were last written by the entry `through` or one before; where `item` is
///   not empty, those about that item alone. One whose sum is wrong hides what it says, and deletes nothing.
///
/// Keys and actors' names are blobs, so that every string survives, with U+0000 in it too; a look at
/// them with the sqlite3 shell needs `CAST(key AS TEXT)`.
enum Schema {
    /// SQLite's application id of our files: "Atrm".
    static let applicationID = 0x4174_726D

    /// The file's format, in the table by which older versions know that the file is not theirs.
    static let version = "v3"
    /// Formats that are copied into a new file.
    static let olderVersions: Set = ["v1", "v2"]

    static let tables = """
        CREATE TABLE grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('\(version)');
        CREATE TABLE meta(
            name TEXT PRIMARY KEY, value NOT NULL, rowsum INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE containers(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL,
            rowsum INTEGER NOT NULL);
        CREATE TABLE components(
            id INTEGER PRIMARY KEY, container INTEGER NOT NULL REFERENCES containers,
            name TEXT NOT NULL, records INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL DEFAULT 0,
            rowsum INTEGER NOT NULL, UNIQUE(container, name));
        CREATE TABLE entries(
            sequence INTEGER PRIMARY KEY, container INTEGER NOT NULL, position INTEGER NOT NULL,
            time INTEGER NOT NULL, actor INTEGER, topic TEXT, public BLOB, restricted BLOB,
            changes BLOB, sum INTEGER NOT NULL);
        CREATE TABLE records(
            component INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
            sequence INTEGER NOT NULL, created INTEGER NOT NULL, sum INTEGER NOT NULL,
            PRIMARY KEY(component, key)) WITHOUT ROWID;
        CREATE TABLE purges(
            id INTEGER PRIMARY KEY, component INTEGER NOT NULL, item BLOB NOT NULL,
            first BLOB NOT NULL, last BLOB NOT NULL, through INTEGER NOT NULL,
            rowsum INTEGER NOT NULL);
        CREATE UNIQUE INDEX purges_place ON purges(component, item, last);
        CREATE TABLE actors(
            number INTEGER PRIMARY KEY, name BLOB NOT NULL, rowsum INTEGER NOT NULL);
        CREATE TABLE probe(id INTEGER PRIMARY KEY, filler BLOB NOT NULL);
        """

    /// Makes the tables of a new, empty file, within a transaction.
    static func make(in db: Database, identity: String) throws {
        try db.execute(sql: tables)
        try Meta.make(in: db, identity: identity)
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
    }

    /// The formats that a file names; empty for a new one.
    static func versions(of db: Database) throws -> Set<String> {
        guard try db.tableExists("grdb_migrations") else { return [] }
        return try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
    }
}
