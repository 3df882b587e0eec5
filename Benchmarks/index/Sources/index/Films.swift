import AtriumKit
import CSQLite
import Foundation

/// A database that cannot do what it should.
struct DatabaseError: Error, CustomStringConvertible {
    var description: String
}

/// The films that `peers/movies.py` makes, in SQLite with the indexes it would want.
final class Films {
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// Opens the database, only to be read, with as much memory as it may want.
    init(path: String) throws {
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
            throw DatabaseError(description: "\(path) can't be opened; peers/movies.py makes it")
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
        let statement = try prepared(text)
        defer { sqlite3_reset(statement) }
        var (rows, first) = (0, 0)
        while sqlite3_step(statement) == SQLITE_ROW {
            if rows == 0 { first = Int(sqlite3_column_int64(statement, 0)) }
            for column in 0..<sqlite3_column_count(statement) {
                _ = sqlite3_column_text(statement, column)
            }
            rows += 1
        }
        return (rows, first)
    }

    /// The first column of all rows.
    func texts(_ text: String) throws -> [String] {
        let statement = try prepared(text)
        defer { sqlite3_reset(statement) }
        var texts: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW { texts.append(column(0, of: statement)) }
        return texts
    }

    /// Hands over the first films as items, a thousand at a time.
    func batches(of count: Int, _ body: ([Item]) -> Void) throws {
        let statement = try prepared(
            "SELECT id, title, genre, duration, rating, year FROM movies LIMIT \(count)")
        defer { sqlite3_reset(statement) }
        var batch: [Item] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let number = column(0, of: statement)
            let id = String(repeating: "0", count: 7 - number.count) + number
            batch.append(
                Item(
                    id: id,
                    fields: [
                        "title": .text(column(1, of: statement)),
                        "genre": .list([.text(column(2, of: statement))]),
                        "duration": .int(sqlite3_column_int64(statement, 3)),
                        "rating": .number(sqlite3_column_double(statement, 4)),
                        "year": .int(sqlite3_column_int64(statement, 5)),
                    ]))
            guard batch.count == 1_000 else { continue }
            body(batch)
            batch = []
        }
        if !batch.isEmpty { body(batch) }
    }

    private func column(_ number: Int32, of statement: OpaquePointer) -> String {
        sqlite3_column_text(statement, number).map { String(cString: $0) } ?? ""
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
