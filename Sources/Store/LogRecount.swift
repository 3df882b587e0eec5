internal import Foundation
internal import GRDB

/// Reads the log's entries in order, and checks their sums and that no sequence or position is missing.
final class LogRecount {
    private static let rows = 2_000
    private static let bytes = 8 << 20

    /// The last sequence that was trimmed, and the last whose changes are written to the records.
    private let trimmed: Int64
    private let applied: Int64
    private var last: Int64?
    /// The position of each container's last entry, by the container's id.
    private var positions: [Int64: Int64] = [:]

    init(_ db: Database) throws {
        func number(_ name: String) throws -> Int64 {
            // In a damaged file it may be any number; the difference of two non-negative numbers can't overflow.
            try max(
                0,
                Int64.fetchOne(
                    db, sql: "SELECT value FROM meta WHERE name = ?", arguments: [name]) ?? 0)
        }
        (trimmed, applied) = (try number("trimmed"), try number("applied"))
    }

    /// Reads the next slice within one snapshot: 2,000 entries or about 8 MiB.
    func next(_ db: Database) throws -> RecountSlice {
        var slice = RecountSlice()
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT e.sequence, e.container, e.position, e.time, e.actor, e.topic, e.public,
                        e.restricted, e.changes, e.sum, c.name
                    FROM entries e LEFT JOIN containers c ON c.id = e.container
                    WHERE e.sequence > ? ORDER BY e.sequence
                    """), arguments: [last ?? 0])
        var bytes = 0
        while slice.rows < Self.rows, bytes < Self.bytes {
            guard let row = try rows.next() else {
                // The first entries may have been trimmed; the last one never is.
                slice.missing += Int(max(applied - (last ?? 0), 0))
                slice.isEnd = true
                break
            }
            bytes += try check(row, &slice)
        }
        return slice
    }

    /// Checks an entry and counts it in the slice; returns the size of the row in bytes.
    private func check(_ row: Row, _ slice: inout RecountSlice) throws -> Int {
        let sequence: Int64 = row[0]
        // A damaged page may name entries again.
        let isNext = sequence > last ?? 0
        // Some entries before the trimmed sequence may not be deleted yet.
        if isNext { slice.missing += Int(max(sequence - (last ?? trimmed) - 1, 0)) }
        last = max(sequence, last ?? 0)
        let (container, position) = (row[1] as Int64? ?? 0, row[2] as Int64? ?? 0)
        let before = positions[container]
        positions[container] = position
        func bytes(_ column: Int) throws -> [UInt8]? {
            row.hasNull(atIndex: column)
                ? nil : try row.withUnsafeData(atIndex: column, Store.bytes)
        }
        let (payload, restricted) = (try bytes(6), try bytes(7))
        var sum = EntrySum.of(
            container: row[10] as String? ?? "", sequence: sequence, position: position,
            time: row[3] as Int64? ?? 0, actor: row[4], topic: row[5], payload: payload,
            restricted: restricted)
        let changes = try bytes(8)
        if let changes { sum ^= EntrySum.ofChanges(changes, sequence: sequence) }
        let isInOrder = before.map { $0 &+ 1 == position } ?? (position > 0)
        // Changes that were written to the records must have been removed from the entry.
        let isMade = changes == nil || sequence > applied
        if !isNext || sum != row[9] as Int64? || !isMade || !isInOrder && slice.missing == 0 {
            slice.damaged.append("\(sequence)")
        }
        slice.rows += 1
        return (payload?.count ?? 0) + (restricted?.count ?? 0) + (changes?.count ?? 0) + 64
    }
}
