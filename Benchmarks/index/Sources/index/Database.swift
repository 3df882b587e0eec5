import CSQLite
import Foundation

/// A database that cannot do what it should.
struct DatabaseError: Error, CustomStringConvertible {
    var description: String
}

/// What `peers/movies.py` or `peers/packages.py` makes, in SQLite with the indexes it would want.
final class Database {
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// Opens the database, only to be read, with as much memory as it may want.
    init(path: String) throws {
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
            throw DatabaseError(description: "\(path) can't be opened; bench.py makes it")
        }
        try run("PRAGMA cache_size=-400000")
        try run("PRAGMA mmap_size=1000000000")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(database)
    }

    /// Runs a statement to its end, and reads all that it gives, as text.
    ///
    /// - Returns: How many rows it gave, and the first column of the first.
    @discardableResult
    func run(_ text: String) throws -> (rows: Int, first: Int) {
        var (rows, first) = (0, 0)
        try each(text) { row in
            if rows == 0 { first = Int(row.integer(0)) }
            for column in 0..<row.count { _ = row.bytes(column) }
            rows += 1
        }
        return (rows, first)
    }

    /// The first column of all rows.
    func texts(_ text: String) throws -> [String] {
        var texts: [String] = []
        try each(text) { texts.append($0.text(0)) }
        return texts
    }

    /// Runs a statement to its end, and hands over each row, which is gone with the next.
    func each(_ text: String, _ body: (Row) throws -> Void) throws {
        let statement = try prepared(text)
        defer { sqlite3_reset(statement) }
        while sqlite3_step(statement) == SQLITE_ROW { try body(Row(statement: statement)) }
    }

    private func prepared(_ text: String) throws -> OpaquePointer {
        if let statement = statements[text] { return statement }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK, let statement
        else {
            throw DatabaseError(
                description: "\(text): \(String(cString: sqlite3_errmsg(database)))")
        }
        statements[text] = statement
        return statement
    }
}

/// A row that a statement stands at.
struct Row {
    fileprivate let statement: OpaquePointer

    var count: Int32 { sqlite3_column_count(statement) }

    func bytes(_ column: Int32) -> UnsafePointer<UInt8>? { sqlite3_column_text(statement, column) }
    func text(_ column: Int32) -> String { bytes(column).map { String(cString: $0) } ?? "" }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
    func number(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }
}
