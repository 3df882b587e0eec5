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
        if let number = number(column) { return number }
        throw DatabaseError(
            resultCode: .SQLITE_CORRUPT,
            message: "a row has no number as \(columnNames.dropFirst(column).first ?? "a column")")
    }
}
