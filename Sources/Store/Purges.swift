internal import Foundation
internal import GRDB

/// What of a component was purged and is not deleted yet: no read shows it.
///
/// An entry that purges names what goes in a row or a few of the table `purges`. The rows of the
/// records follow in slices, which move the beginning of what is left.
struct Purged {
    /// Keys from the first on, before the last; nil: to the end.
    fileprivate struct Range {
        var first: [UInt8]
        var last: [UInt8]?
        var through: Int64
    }

    /// How many rows one transaction deletes at most.
    static let slice = 1_000

    private let toTheEnd: [Range]
    /// By their ends; two overlap only where both have the same end.
    private let bounded: [Range]

    /// What is purged of a component, in the snapshot that is read.
    init(_ container: String, _ component: String, _ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT first, last, through FROM purges WHERE component = (\(Store.componentID))
                """, arguments: [container, component])
        let ranges = rows.map { row in
            Range(
                first: Store.bytes(row[0] as Data), last: (row[1] as Data?).map { Store.bytes($0) },
                through: row[2])
        }
        toTheEnd = ranges.filter { $0.last == nil }
        bounded = ranges.filter { $0.last != nil }.sorted {
            $0.end.lexicographicallyPrecedes($1.end)
        }
    }

    var isEmpty: Bool { toTheEnd.isEmpty && bounded.isEmpty }

    /// Whether a record is purged.
    func covers(_ key: Data, sequence: Int64) -> Bool {
        guard !isEmpty else { return false }
        let key = [UInt8](key)
        if toTheEnd.contains(where: { $0.covers(key, sequence) }) { return true }
        var (low, high) = (0, bounded.count)
        while low < high {
            let middle = (low + high) / 2
            if key.lexicographicallyPrecedes(bounded[middle].end) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        guard low < bounded.count else { return false }
        let end = bounded[low].end
        return bounded[low...].prefix { $0.end == end }.contains { $0.covers(key, sequence) }
    }

    /// Whether anything at all is purged and not deleted yet.
    static func isPending(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM purges)") ?? false
    }

    /// Deletes some rows of what was purged first.
    ///
    /// - Returns: how many; nil: nothing was left to delete.
    static func deleteSlice(_ db: Database) throws -> Int? {
        let found = try Row.fetchOne(
            db, sql: "SELECT id, component, first, last, through FROM purges ORDER BY id LIMIT 1")
        guard let found else { return nil }
        let (id, component): (Int64, Int64) = (found[0], found[1])
        let (first, last): (Data, Data?) = (found[2], found[3])
        let part = try Row.fetchOne(
            db,
            sql: """
                SELECT COUNT(*), MAX(key) FROM (
                    SELECT key FROM records WHERE component = ? AND key >= ?
                    \(last == nil ? "" : "AND key < ?") ORDER BY key LIMIT \(slice))
                """,
            arguments: [component, first] + (last.map { [$0] } ?? StatementArguments()))
        var deleted = 0
        let (count, end): (Int, Data?) = (part?[0] ?? 0, part?[1])
        if let end {
            try db.execute(
                sql: """
                    DELETE FROM records
                    WHERE component = ? AND key >= ? AND key <= ? AND sequence <= ?
                    """, arguments: [component, first, end, found[4] as Int64])
            deleted = db.changesCount
        }
        if let end, count == slice {
            try db.execute(
                sql: "UPDATE purges SET first = ? WHERE id = ?", arguments: [end + [0], id])
        } else {
            try db.execute(sql: "DELETE FROM purges WHERE id = ?", arguments: [id])
        }
        return deleted
    }
}

extension Purged.Range {
    var end: [UInt8] { last ?? [] }

    func covers(_ key: [UInt8], _ sequence: Int64) -> Bool {
        sequence <= through && !key.lexicographicallyPrecedes(first)
            && (last.map { key.lexicographicallyPrecedes($0) } ?? true)
    }
}

extension Purge {
    /// The first key that is behind all keys with the prefix; nil: there is none.
    var last: Data? {
        var bytes = Array(prefix.utf8)
        while let byte = bytes.popLast() {
            if byte < .max { return Data(bytes + [byte + 1]) }
        }
        return nil
    }
}
