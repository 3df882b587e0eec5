internal import Foundation
internal import GRDB

/// Names of containers and components that are not what was written: nothing would be found under them.
///
/// They have no sum of their own, but are a part of those of the records. A start looks at two of each component.
enum NameCheck {
    /// What is wrong, for people; a sentence for each component.
    static func problems(_ db: Database) throws -> [String] {
        let components = try Row.fetchAll(
            db,
            sql: """
                SELECT o.name, c.name, c.id FROM components c
                LEFT JOIN containers o ON o.id = c.container ORDER BY c.id
                """)
        return try components.compactMap { row in
            guard let id = row.number(2), let component = row.text(1) else { return problem("?") }
            guard let container = row.text(0) else { return problem(component) }
            let sums = ComponentSum(container: container, component: component)
            let found = try ["ASC", "DESC"].compactMap { try isWritten(id, sums, $0, db) }
            return found.isEmpty || found.contains(true)
                ? nil : problem("\(container)/\(component)")
        }
    }

    /// Whether the first or the last record is one of the component; nil: there is none.
    private static func isWritten(
        _ component: Int64, _ sums: ComponentSum, _ order: String, _ db: Database
    ) throws -> Bool? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT key, value, sequence, created, sum FROM records WHERE component = ?
                    ORDER BY key \(order) LIMIT 1
                    """), arguments: [component])
        guard let row else { return nil }
        let sum = (row.data(0) ?? Data()).withUnsafeBytes { key in
            (row.data(1) ?? Data()).withUnsafeBytes {
                sums.record(
                    key: key, value: $0, sequence: row.number(2) ?? 0, created: row.number(3) ?? 0)
            }
        }
        return sum == row.number(4)
    }

    private static func problem(_ name: String) -> String {
        "the records of the component '\(name)' are not what was written, or its name is not: what it had may not be "
            + "shown. Stop the daemon and restore a backup"
    }
}
