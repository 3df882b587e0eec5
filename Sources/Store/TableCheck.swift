internal import Foundation
internal import GRDB

/// Checks the rows of the small tables.
///
/// It checks that they are undamaged, that none is missing, and that each is found through its table's index.
struct TableCheck {
    /// The most rows that one step reads.
    private static let rows = 2_000

    enum Table: String, CaseIterable {
        case meta
        case containers
        case components
        case purges
        case actors
    }

    private var tables: ArraySlice<Table>
    private var last = Int64.min
    /// The last row's name in the table `meta`, whose key is a text.
    private var lastName = ""
    private var count = 0
    private var damaged = 0
    /// The rows whose key is not greater than those before: a damaged page names them again, in the place of others.
    private var repeated = 0
    /// The names of the first damaged rows.
    private var names: [String] = []

    init(_ tables: [Table] = Table.allCases) { self.tables = tables[...] }

    /// Returns the problems of the tables that assign records to components, for people.
    ///
    /// Each row of these tables may concern any container: a damaged name may have been any name.
    static func problemsOfPlaces(_ db: Database) throws -> [String] {
        let tables: [Table] = [.containers, .components, .purges]
        var check = TableCheck(tables)
        var problems: [String] = []
        while let found = try check.next(db) { problems += found }
        for table in tables where try table.expected(db) == nil {
            problems.append("it is unknown how many rows the table \(table.rawValue) should have")
        }
        return problems
    }

    /// Everything that is wrong, for people: a sentence or two for each table.
    static func problems(_ db: Database) throws -> [String] {
        var problems: [String] = []
        try find(&problems, db)
        return problems
    }

    /// Adds all problems; if a table can't be read, the problems found before are kept.
    static func find(_ problems: inout [String], _ db: Database) throws {
        var check = TableCheck()
        while let found = try check.next(db) { problems += found }
    }

    /// Reads the next step within one snapshot; returns the problems of a table that was read to its end, nil once
    /// all were.
    mutating func next(_ db: Database) throws -> [String]? {
        guard let table = tables.first else { return nil }
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: table.rows(atMost: Self.rows)),
            arguments: table == .meta ? [] : [last])
        var read = 0
        while let row = try rows.next() {
            read += 1
            guard advance(to: row, of: table) else {
                repeated += 1
                continue
            }
            if let sum = table.sum(of: row), sum == row.number(1), try table.isFound(row, db) {
                continue
            }
            damaged += 1
            guard names.count < 3 else { continue }
            names.append(row.number(0).map { "\($0)" } ?? row.text(0) ?? "?")
        }
        count += read
        guard table == .meta || read < Self.rows else { return [] }
        defer {
            tables.removeFirst()
            (last, lastName, count, damaged, repeated, names) = (.min, "", 0, 0, 0, [])
        }
        return try found(in: table, db)
    }

    /// Goes on to a row; returns whether its key is greater than those before it, or is none, which its sum shows.
    private mutating func advance(to row: Row, of table: Table) -> Bool {
        if table == .meta {
            guard let name = row.string(0) else { return true }
            defer { lastName = name }
            return lastName.utf8.lexicographicallyPrecedes(name.utf8)
        }
        guard let key = row.number(0) else { return true }
        defer { last = max(last, key) }
        return key > last
    }

    private func found(in table: Table, _ db: Database) throws -> [String] {
        var problems: [String] = []
        if damaged > 0 {
            let more = damaged > names.count ? ", …" : ""
            let rows = damaged == 1 ? "1 row" : "\(damaged) rows"
            problems.append(
                "\(rows) of the table \(table.rawValue) (\(names.joined(separator: ", "))\(more)) "
                    + "\(damaged == 1 ? "does not match its checksum" : "do not match their checksums"): "
                    + table.consequence)
        }
        if repeated > 0 {
            problems.append(
                "\(repeated == 1 ? "1 row" : "\(repeated) rows") of the table \(table.rawValue) "
                    + "\(repeated == 1 ? "is" : "are") there twice or out of order, perhaps in the "
                    + "place of others: " + table.consequence)
        }
        let expected = try table.expected(db)
        if let expected, expected != count {
            problems.append(
                "the table \(table.rawValue) should have \(expected) rows, and has \(count): "
                    + table.consequence)
        }
        return problems
    }
}

extension TableCheck.Table {
    /// Selects the rows with their key, their sum and the other columns, in the order of their keys.
    fileprivate func rows(atMost count: Int) -> String {
        let (key, columns) =
            switch self {
            case .meta: ("name", "CAST(value AS TEXT)")
            case .containers: ("id", "name, position")
            case .components: ("id", "container, name, records, sum")
            case .purges: ("id", "component, item, first, last, through")
            case .actors: ("number", "name")
            }
        let part = self == .meta ? "" : "WHERE \(key) > ? ORDER BY \(key) LIMIT \(count)"
        return "SELECT \(key), rowsum, \(columns) FROM \(rawValue) \(part)"
    }

    /// The sum of a row's contents; nil if a column has the wrong type.
    fileprivate func sum(of row: Row) -> Int64? {
        switch self {
        case .meta:
            guard let name = row.string(0), let value = row.string(2) else { return nil }
            return RowSum.meta(name, value)
        case .containers:
            guard let id = row.number(0), let name = row.string(2), let position = row.number(3)
            else { return nil }
            return RowSum.container(id: id, name: name, position: position)
        case .components:
            guard let id = row.number(0), let container = row.number(2), let name = row.string(3),
                let records = row.number(4), let sums = row.number(5)
            else { return nil }
            return RowSum.component(
                id: id, container: container, name: name, records: records, sums: sums)
        case .purges:
            return PurgeRow(row)?.rowSum
        case .actors:
            guard let number = row.number(0), let name = row.blob(2) else { return nil }
            return RowSum.actor(number: number, name: name)
        }
    }

    /// Whether a row, read in the order of the table, is also found through the table's index.
    fileprivate func isFound(_ row: Row, _ db: Database) throws -> Bool {
        let (condition, columns): (String, Range<Int>)
        switch self {
        case .containers: (condition, columns) = ("name = ?", 2..<3)
        case .components: (condition, columns) = ("container = ? AND name = ?", 2..<4)
        case .purges: (condition, columns) = ("component = ? AND item = ? AND last = ?", 2..<6)
        case .meta, .actors: return true
        }
        // The index of purges lacks this column.
        let values = columns.filter { self != .purges || $0 != 4 }.map { row[$0] as DatabaseValue }
        let found = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM \(rawValue) WHERE \(condition)"),
            arguments: StatementArguments(values))
        return found == row.number(0)
    }

    /// The stored number of rows; nil if it can't be read.
    fileprivate func expected(_ db: Database) throws -> Int? {
        guard self != .meta else { return Meta.allCases.count }
        let row = try Row.fetchOne(
            db, sql: "SELECT value FROM meta WHERE name = ?", arguments: [rawValue])
        return row?.number(0).map { Int($0) }
    }

    fileprivate var consequence: String {
        switch self {
        case .meta: "numbers of the store itself may be wrong"
        case .containers: "a container's entries and components may not be found"
        case .components: "a component's records may not be found"
        case .purges: "records may be hidden, or be there again, and none of them are deleted"
        case .actors: "a person may be a new one when they come back"
        }
    }
}
