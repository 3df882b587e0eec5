internal import GRDB

/// How many rows of records each component has, and the exclusive or of their sums: what a start, and whoever
/// recounts, finds a lost row by.
///
/// Belongs to the writer's transactions; what a rolled-back one noted is to be forgotten.
struct ComponentTotals {
    private struct Total {
        var records: Int64
        var sum: Int64
    }

    private var known: [Int64: Total] = [:]
    private var changed: Set<Int64> = []

    /// Notes that rows came or went: how many more there are, and the exclusive or of the sums of those that
    /// came, went, and were replaced.
    mutating func change(
        _ component: Int64, by count: Int64, sums: Int64, _ db: Database
    ) throws {
        if known[component] == nil {
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT records, sum FROM components WHERE id = ?"),
                arguments: [component])
            guard let row else {
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT, message: "component \(component) is unknown")
            }
            known[component] = Total(
                records: try row.requiredNumber(0), sum: try row.requiredNumber(1))
        }
        known[component]?.records += count
        known[component]?.sum ^= sums
        changed.insert(component)
    }

    /// Writes what was noted, within the transaction.
    mutating func save(_ db: Database) throws {
        for component in changed {
            guard let total = known[component] else { continue }
            try db.cachedStatement(sql: "UPDATE components SET records = ?, sum = ? WHERE id = ?")
                .execute(arguments: [total.records, total.sum, component])
        }
        changed.removeAll(keepingCapacity: true)
    }

    mutating func forget() {
        known.removeAll()
        changed.removeAll()
    }
}
