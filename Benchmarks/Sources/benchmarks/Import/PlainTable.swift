import CSQLite
import Foundation

/// The same rows in SQLite and nothing else: what a durable import could cost at the least.
///
/// It keeps what the store keeps of an item, by its key, with WAL and `synchronous=FULL`: a sync a
/// batch.
final class PlainTable {
    private var database: OpaquePointer?
    private var insert: OpaquePointer?
    private let directory: URL

    /// Opens an empty file.
    init(directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appending(path: "plain.sqlite").path
        try check(sqlite3_open(path, &database))
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=FULL")
        // As the store has it: the difference is not to be one of settings.
        try execute("PRAGMA cache_size=-32768")
        try execute("PRAGMA wal_autocheckpoint=2048")
        try execute(
            "CREATE TABLE records(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        try check(
            sqlite3_prepare_v2(
                database, "INSERT OR REPLACE INTO records VALUES (?, ?)", -1, &insert, nil))
    }

    deinit {
        sqlite3_finalize(insert)
        sqlite3_close(database)
        try? FileManager.default.removeItem(at: directory)
    }

    /// Writes a batch: all of it on disk when this returns.
    func put(_ items: ArraySlice<Catalogue.Item>) throws {
        try execute("BEGIN IMMEDIATE")
        for item in items {
            // No destructor: both texts outlive the step.
            try check(
                item.id.utf8.withContiguousStorageIfAvailable { key in
                    item.json.withUnsafeBytes { value in
                        sqlite3_bind_blob(insert, 1, key.baseAddress, Int32(key.count), nil)
                        sqlite3_bind_blob(insert, 2, value.baseAddress, Int32(value.count), nil)
                        return sqlite3_step(insert) == SQLITE_DONE
                            ? SQLITE_OK : sqlite3_errcode(database)
                    }
                } ?? SQLITE_MISUSE)
            try check(sqlite3_reset(insert))
        }
        try execute("COMMIT")
    }

    private func execute(_ statement: String) throws {
        try check(sqlite3_exec(database, statement, nil, nil, nil))
    }

    private func check(_ status: Int32) throws {
        guard status == SQLITE_OK else {
            let said = database.map { String(cString: sqlite3_errmsg($0)) } ?? "no database"
            throw BenchmarkError("SQLite: \(said) (\(status))")
        }
    }
}
