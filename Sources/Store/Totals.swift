internal import GRDB

/// The numbers of rows, from which a start or a recount detects lost rows.
///
/// For each component, the number of its records and the exclusive or of their sums; for each small table, its number
/// of rows.
///
/// Belongs to the writer's transactions; after a rollback it must be dropped.
struct Totals {
    private struct Total {
        var container: Int64
        var name: String
        var records: Int64
        var sum: Int64
        /// The difference of the row's sum when it was read; later sums keep it, so that damage is still detected.
        var damage: Int64 = 0
    }

    private var known: [Int64: Total] = [:]
    private var changed: Set<Int64> = []
    private var tables: [Meta: Int64] = [:]

    /// Adds a change in a component's rows.
    ///
    /// It takes the difference in their number, and the exclusive or of the sums of rows that were added, removed or
    /// replaced.
    mutating func change(
        _ component: Int64, by count: Int64, sums: Int64, _ db: Database
    ) throws {
        if known[component] == nil { known[component] = try Self.total(of: component, db) }
        // A damaged number may be any; it wraps around, and stays damaged.
        known[component]?.records &+= count
        known[component]?.sum ^= sums
        changed.insert(component)
    }

    /// Adds a change in the number of a small table's rows.
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

    /// Writes the numbers, in the caller's transaction.
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
                try table.change(db) { $0 &+ count }
            } catch is LostNumber {
                // A lost number can't be updated or compared; the start reports it.
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
