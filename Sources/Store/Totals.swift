internal import GRDB

/// How many rows of records each component has, and the exclusive or of their sums; and how many rows the small
/// tables have: what a start, and whoever recounts, finds a lost row by.
///
/// Belongs to the writer's transactions; what a rolled-back one noted is to be forgotten.
struct Totals {
    private struct Total {
        var container: Int64
        var name: String
        var records: Int64
        var sum: Int64
        /// What the row's sum differed by when it was read, and goes on to differ by: damage is not written over.
        var damage: Int64 = 0
    }

    private var known: [Int64: Total] = [:]
    private var changed: Set<Int64> = []
    private var tables: [Meta: Int64] = [:]

    /// Notes that rows came or went: how many more there are, and the exclusive or of the sums of those that
    /// came, went, and were replaced.
    mutating func change(
        _ component: Int64, by count: Int64, sums: Int64, _ db: Database
    ) throws {
        if known[component] == nil { known[component] = try Self.total(of: component, db) }
        known[component]?.records += count
        known[component]?.sum ^= sums
        changed.insert(component)
    }

    /// Notes that rows of a small table came or went.
    mutating func change(_ table: Meta, by count: Int64) {
        tables[table, default: 0] += count
    }

    private static func total(of component: Int64, _ db: Database) throws -> Total {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT container, name, records, sum, rowsum FROM components WHERE id = ?"),
            arguments: [component])
        guard let row else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "component \(component) is unknown")
        }
        var total = Total(
            container: try row.requiredNumber(0), name: row.text(1) ?? "",
            records: try row.requiredNumber(2), sum: try row.requiredNumber(3))
        total.damage = rowSum(component, total) ^ (try row.requiredNumber(4))
        return total
    }

    private static func rowSum(_ component: Int64, _ total: Total) -> Int64 {
        RowSum.component(
            id: component, container: total.container, name: total.name, records: total.records,
            sums: total.sum) ^ total.damage
    }

    /// Writes what was noted, within the transaction.
    mutating func save(_ db: Database) throws {
        for component in changed {
            guard let total = known[component] else { continue }
            try db.cachedStatement(
                sql: "UPDATE components SET records = ?, sum = ?, rowsum = ? WHERE id = ?"
            ).execute(arguments: [
                total.records, total.sum, Self.rowSum(component, total), component,
            ])
        }
        changed.removeAll(keepingCapacity: true)
        for (table, count) in tables {
            do {
                try table.change(db) { $0 + count }
            } catch is LostNumber {
                // What can't be counted can't be compared either, which a start says.
            }
        }
        tables.removeAll()
    }

    mutating func forget() {
        known.removeAll()
        changed.removeAll()
        tables.removeAll()
    }
}
