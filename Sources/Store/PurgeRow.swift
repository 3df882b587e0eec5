internal import Foundation
internal import GRDB

/// A row of `purges`.
struct PurgeRow {
    static let columns = "id, rowsum, component, item, first, last, through"
    /// What the table's index is over.
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

    /// Whether it is found through the table's index.
    func isFound(_ db: Database) throws -> Bool {
        let found = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT id FROM purges INDEXED BY purges_place WHERE \(Self.place)"),
            arguments: [component, item, last])
        return found == id
    }

    /// Writes it as a new one; one of before that goes no further is a part of it.
    ///
    /// One that is not what was written may have named something else: that it is missing is to be found then.
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
    /// What a row says; nil where a column holds something else than it should.
    init?(_ row: Row) {
        guard let id = row.number(0), let component = row.number(2), let item = row.blob(3),
            let first = row.blob(4), let last = row.blob(5), let through = row.number(6)
        else { return nil }
        self.init(
            id: id, component: component, item: item, first: first, last: last, through: through)
    }

    /// What a row says; nil where that is not what was written.
    init?(sound row: Row) {
        guard let purge = PurgeRow(row), purge.rowSum == row.number(1) else { return nil }
        self = purge
    }
}

extension Purge {
    /// The first key that is behind all keys with the prefix; empty: there is none.
    var last: Data {
        var bytes = Array(prefix.utf8)
        while let byte = bytes.popLast() {
            if byte < .max { return Data(bytes + [byte + 1]) }
        }
        return Data()
    }
}
