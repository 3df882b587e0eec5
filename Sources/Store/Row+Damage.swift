internal import Foundation
internal import GRDB

extension Int64 {
    /// Whether this can be a sequence, a position or a number of rows; if not, it is damage.
    ///
    /// A store never gets near the greatest one, so a possible number can be increased without an overflow.
    var isPossible: Bool { (0...1 << 62).contains(self) }
}

/// Reads columns of rows that may be damaged: GRDB's own accessors end the process if a column has the wrong type.
extension Row {
    /// A whole number; nil: something else, or NULL.
    func number(_ column: Int) -> Int64? { Int64.fromDatabaseValue(self[column]) }

    /// A text; nil: something else, or NULL.
    func text(_ column: Int) -> String? { String.fromDatabaseValue(self[column]) }

    /// Returns the bytes of a column; nil: another type, or NULL.
    func data(_ column: Int) -> Data? { Data.fromDatabaseValue(self[column]) }

    /// Returns the bytes of a column that are stored as a blob: to SQLite a text of the same bytes is a different
    /// value.
    func blob(_ column: Int) -> Data? {
        guard case .blob(let data) = (self[column] as DatabaseValue).storage else { return nil }
        return data
    }

    /// A text that is stored as a text.
    func string(_ column: Int) -> String? {
        guard case .string(let text) = (self[column] as DatabaseValue).storage else { return nil }
        return text
    }

    /// A whole number that is never NULL; else throws SQLite's error for a damaged file.
    func requiredNumber(_ column: Int) throws -> Int64 {
        try required(number(column), "number", column)
    }

    /// A text that is never NULL; else throws SQLite's error for a damaged file.
    func requiredString(_ column: Int) throws -> String {
        try required(string(column), "text", column)
    }

    /// Returns the bytes of a column that is never NULL; else throws SQLite's error for a damaged file.
    func requiredBlob(_ column: Int) throws -> Data {
        try required(blob(column), "bytes", column)
    }

    /// The value of a column, nil if it is NULL; throws SQLite's error for a damaged file.
    func optional<T>(_ column: Int, _ read: (Int) throws -> T) throws -> T? {
        hasNull(atIndex: column) ? nil : try read(column)
    }

    private func required<T>(_ value: T?, _ kind: String, _ column: Int) throws -> T {
        if let value { return value }
        throw DatabaseError(
            resultCode: .SQLITE_CORRUPT,
            message: "a row has no \(kind) as \(columnNames.dropFirst(column).first ?? "a column")")
    }
}
