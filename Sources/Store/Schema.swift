internal import GRDB

/// The tables.
///
/// - `entries` is append-only, and an acknowledgement waits only for the append. An entry's `changes` are written to
///   `records` in a later transaction, which sets them NULL; `applied` in `meta` is the last entry for which this was
///   done.
/// - Sums are defined in `Sums.swift`. A component's `records` and `sum` are the count of its rows and the exclusive
///   or of their sums.
/// - `rowsum` is the sum of the row itself, in the small tables. `meta` has the number of rows of each of the other
///   small tables.
/// - `purges` are pending purges: the keys from `first` on and before `last` (empty: all) of records last written by
///   the entry `through` or an earlier one; if `item` is not empty, only those about that item. A purge with a wrong
///   sum deletes nothing, and the records that it names stay hidden.
///
/// Keys and actors' names are blobs, so that every string can be stored, even with U+0000; to read them in the
/// sqlite3 shell use `CAST(key AS TEXT)`.
enum Schema {
    /// SQLite's application id of our files: "Atrm".
    static let applicationID = 0x4174_726D

    /// The file's format, stored in the table by which older versions recognise that they can't use the file.
    static let version = "v3"
    /// The formats that are migrated to a new file.
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

    /// The statements that read every column, and use each index that queries name; these exist if the statements can
    /// be prepared.
    private static let reads = [
        "SELECT name, value, rowsum FROM meta",
        "SELECT id, name, position, rowsum FROM containers",
        "SELECT id, container, name, records, sum, rowsum FROM components",
        """
        SELECT sequence, container, position, time, actor, topic, public, restricted, changes, sum
        FROM entries
        """,
        "SELECT component, key, value, sequence, created, sum FROM records",
        """
        SELECT id, component, item, first, last, through, rowsum FROM purges INDEXED BY purges_place
        WHERE component = 0 AND item = x'' AND last = x''
        """,
        "SELECT number, name, rowsum FROM actors", "SELECT id, filler FROM probe",
    ]

    /// Reads every column that a migration of an older format reads.
    private static let olderReads = [
        "SELECT name, value FROM meta", "SELECT id, name, position FROM containers",
        "SELECT id, container, name FROM components",
        "SELECT sequence, container, position, time, actor FROM entries",
        "SELECT sequence, topic, payload, restricted FROM notifications",
        "SELECT component, key, value, sequence, created FROM records",
        "SELECT number, name FROM actors",
    ]

    /// Checks that a file has the tables of the formats that it names; throws SQLite's error for what does not exist.
    static func check(_ versions: Set<String>, _ db: Database) throws {
        for sql in versions.contains(version) ? reads : olderReads {
            _ = try db.makeStatement(sql: sql)
        }
    }

    /// Creates the tables of a new, empty file, in the caller's transaction.
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
