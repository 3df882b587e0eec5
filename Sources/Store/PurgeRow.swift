internal import Foundation
internal import GRDB

/// A row of the table `purges`.
struct PurgeRow {
    static let columns = "id, rowsum, component, item, first, last, through"
    /// The columns of the table's index.
    private static let place = "component = ? AND item = ? AND last = ?"

    var id: Int64
    var component: Int64
    var item: Data
    var first: Data
    var last: Data
    var through: Int64

    var rowSum: Int64 {
        RowSum.purge(
            id: id, component: component, item: item, first: first, last: last, through: through)
    }

    /// Whether the table's index finds the row.
    func isFound(_ db: Database) throws -> Bool {
        let found = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT id FROM purges INDEXED BY purges_place WHERE \(Self.place)"),
            arguments: [component, item, last])
        return found == id
    }

    /// Writes it as a new row, which replaces an older one of the same index key.
    ///
    /// A damaged older row may have named something else. It stays in the count of rows, so that a later check reports
    /// it as missing.
    func write(_ totals: inout Totals, _ db: Database) throws {
        let place: StatementArguments = [component, item, last]
        let before = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT \(Self.columns) FROM purges WHERE \(Self.place)"),
            arguments: place)
        if !before.isEmpty {
            try db.cachedStatement(sql: "DELETE FROM purges WHERE \(Self.place)")
                .execute(arguments: place)
        }
        totals.change(.purges, by: 1 - Int64(before.filter { PurgeRow(sound: $0) != nil }.count))
        try db.cachedStatement(
            sql: "INSERT INTO purges(\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [id, rowSum, component, item, first, last, through])
    }
}

extension PurgeRow {
    /// Reads a row; nil if a column has the wrong type.
    init?(_ row: Row) {
        guard let id = row.number(0), let component = row.number(2), let item = row.blob(3),
            let first = row.blob(4), let last = row.blob(5), let through = row.number(6)
        else { return nil }
        self.init(
            id: id, component: component, item: item, first: first, last: last, through: through)
    }

    /// Reads a row; nil if it is damaged.
    init?(sound row: Row) {
        guard let purge = PurgeRow(row), purge.rowSum == row.number(1) else { return nil }
        self = purge
    }
}

extension Purge {
    /// The first key behind all keys with the prefix; empty: there is none.
    var last: Data {
        var bytes = Array(prefix.utf8)
        while let byte = bytes.popLast() {
            if byte < .max { return Data(bytes + [byte + 1]) }
        }
        return Data()
    }
}
