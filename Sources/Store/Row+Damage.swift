internal import Foundation
internal import GRDB

/// What a row that may be damaged holds: GRDB ends the process where it is asked for something else than is there.
extension Row {
    /// A whole number; nil: something else, or nothing.
    func number(_ column: Int) -> Int64? { Int64.fromDatabaseValue(self[column]) }

    /// A text; nil: something else, or nothing.
    func text(_ column: Int) -> String? { String.fromDatabaseValue(self[column]) }

    /// Bytes; nil: something else, or nothing.
    func data(_ column: Int) -> Data? { Data.fromDatabaseValue(self[column]) }

    /// Bytes that are kept as bytes: SQLite takes a text of the same ones for another value.
    func blob(_ column: Int) -> Data? {
        guard case .blob(let data) = (self[column] as DatabaseValue).storage else { return nil }
        return data
    }

    /// A text that is kept as a text.
    func string(_ column: Int) -> String? {
        guard case .string(let text) = (self[column] as DatabaseValue).storage else { return nil }
        return text
    }

    /// A whole number that is always there.
    ///
    /// - Throws: what SQLite says of a damaged file.
    func requiredNumber(_ column: Int) throws -> Int64 {
        try required(number(column), "number", column)
    }

    /// A text that is always there.
    ///
    /// - Throws: what SQLite says of a damaged file.
    func requiredString(_ column: Int) throws -> String {
        try required(string(column), "text", column)
    }

    /// Bytes that are always there.
    ///
    /// - Throws: what SQLite says of a damaged file.
    func requiredBlob(_ column: Int) throws -> Data {
        try required(blob(column), "bytes", column)
    }

    /// What a column holds, if it holds anything.
    ///
    /// - Throws: what SQLite says of a damaged file.
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
