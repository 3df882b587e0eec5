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
