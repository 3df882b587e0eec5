internal import Foundation
internal import GRDB

/// Counts the entries that are kept, and finds those to delete.
///
/// It belongs to the writer's queue. Ages are measured from the newest entry, not from the clock. So a clock that is
/// set back deletes nothing, and one that is set forward does only once an entry is written.
struct PastCount {
    /// The most rows that one slice reads.
    static let slice = 2_000
    /// The bytes that each entry counts in addition to its topic and payloads.
    private static let row = 64

    var limits: Retention
    private(set) var count = 0
    private(set) var bytes = 0
    private var oldest: Int64 = .max
    private var newest: Int64 = .min
    /// The last entry that was counted.
    private(set) var through: Int64 = 0
    /// The number of entries that are gone though they were not trimmed; 0 again once the log begins behind them.
    private(set) var missing = 0
    /// The last of them.
    private var lastMissing: Int64 = 0
    /// The last sequence up to which it is known whether entries exist.
    private var compared: Int64 = 0
    /// Whether the last slice could delete nothing although limits are exceeded.
    private var isStuck = false

    private static let size = """
        \(row) + IFNULL(length(topic), 0) + IFNULL(length(public), 0) + IFNULL(length(restricted), 0)
        """

    init(_ limits: Retention) { self.limits = limits }

    /// Counts the entries committed since the last count.
    mutating func countRest(_ db: Database) throws {
        let from = try max(compared, Self.number("trimmed", db))
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT COUNT(topic), IFNULL(SUM(\(Self.size)), 0), MAX(sequence),
                    IFNULL(SUM(sequence > ?), 0),
                    TOTAL(CASE WHEN sequence > ? THEN sequence - ? END)
                FROM entries WHERE sequence > ?
                """, arguments: [from, from, from, through])
        guard let row else { return }
        // The last rows may be gone, too: what they changed was made.
        let end = try max(row[2] as Int64? ?? 0, Self.number("applied", db))
        if end > from {
            var count = max(0, Int(end - from) - (row[3] as Int))
            // Entries that a damaged page names twice stand for others.
            if count == 0, let all = Self.sum(through: end - from), row[4] as Double? != all {
                count = 1
            }
            if count > 0 {
                missing += count
                lastMissing = try Self.lastMissing(after: from, through: end, db)
            }
            compared = end
        }
        guard let last = row[2] as Int64? else { return }
        count += row[0]
        bytes += row[1]
        through = last
        newest = try Self.time(of: "DESC", db) ?? newest
        oldest = try Self.time(of: "ASC", db) ?? oldest
    }

    /// The sum of the numbers from 1 to this one; nil: a double does not hold it exactly.
    private static func sum(through last: Int64) -> Double? {
        guard last <= 90_000_000 else { return nil }
        return Double(last * (last + 1) / 2)
    }

    private static func lastMissing(
        after first: Int64, through end: Int64, _ db: Database
    ) throws -> Int64 {
        let last = try Int64.fetchOne(db, sql: "SELECT MAX(sequence) FROM entries")
        guard last == end else { return end }
        let next = try Int64.fetchOne(
            db,
            sql: """
                SELECT MAX(sequence) FROM entries e WHERE sequence > ? AND NOT EXISTS(
                    SELECT 1 FROM entries WHERE sequence = e.sequence - 1)
                """, arguments: [first])
        return (next ?? end) - 1
    }

    /// A number of the table `meta`; 0 for a damaged one that is missing or negative.
    private static func number(_ name: String, _ db: Database) throws -> Int64 {
        let row = try Row.fetchOne(
            db, sql: "SELECT value FROM meta WHERE name = ?", arguments: [name])
        return max(0, row?.number(0) ?? 0)
    }

    private static func time(of end: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT time FROM entries ORDER BY sequence \(end) LIMIT 1")
    }

    /// Counts an entry that was committed.
    mutating func add(_ entry: Entry, _ sequence: Int64) {
        guard sequence > through else { return }
        (through, compared) = (sequence, max(compared, sequence))
        newest = entry.time
        if oldest == .max { oldest = entry.time }
        isStuck = false
        bytes += Self.row
        guard let notification = entry.notification else { return }
        count += 1
        bytes +=
            notification.topic.utf8.count + notification.payload.count
            + (notification.restricted?.count ?? 0)
    }

    /// Stops trimming until the next entry.
    mutating func rest() { isStuck = true }

    /// Whether the limits are exceeded by enough to make a slice worth its transaction.
    var isDue: Bool { !isStuck && (isBeyond(limits, slack: 50) || isTooOld(oldest, slack: 50)) }

    /// Whether a limit is exceeded.
    var isBeyond: Bool { !isStuck && (isBeyond(limits) || isTooOld(oldest)) }

    private func isBeyond(_ limits: Retention, slack: Int = .max) -> Bool {
        count > limits.count.adding(limits.count / slack)
            || bytes > limits.bytes.adding(limits.bytes / slack)
    }

    private func isTooOld(_ time: Int64, slack: Int64 = .max) -> Bool {
        guard limits.age < .max, time < newest else { return false }
        let (age, overflows) = newest.subtractingReportingOverflow(time)
        return overflows || age > limits.age.adding(limits.age / slack)
    }

    /// Deletes the oldest rows that exceed the limits, in the caller's transaction.
    ///
    /// The last entry stays, because it holds the store's sequence. So do entries whose changes are waiting.
    mutating func trimSlice(_ db: Database) throws {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT sequence, time, topic IS NOT NULL, \(Self.size) FROM entries
                    WHERE sequence <= (SELECT value FROM meta WHERE name = 'applied')
                        AND sequence < (SELECT MAX(sequence) FROM entries)
                    ORDER BY sequence LIMIT \(Self.slice)
                    """))
        var last: Int64?
        while let row = try rows.next() {
            oldest = row.number(1) ?? oldest
            guard isBeyond(limits) || isTooOld(oldest) else { break }
            count -= row[2]
            bytes -= row[3]
            last = row[0]
        }
        guard let last else {
            isStuck = true
            return
        }
        try Meta.trimmed.change(db) { max($0, last) }
        try db.execute(sql: "DELETE FROM entries WHERE sequence <= ?", arguments: [last])
        if last >= lastMissing { missing = 0 }
        oldest = try Self.time(of: "ASC", db) ?? .max
    }
}

extension FixedWidthInteger {
    /// The sum, or the maximum on overflow.
    fileprivate func adding(_ other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// Returns unused pages of the file to the file system, some at a time.
enum SparePages {
    /// The number of unused pages that the file keeps for the next entries.
    private static let few = 1_024
    private static let slice = 256

    /// Whether the file has enough unused pages to be worth returning.
    static func areMany(_ db: Database) throws -> Bool {
        try count(db) > max(few, pragma("page_count", db) / 10)
    }

    /// Returns some pages; the result is whether more should be returned.
    static func giveBack(_ db: Database) throws -> Bool {
        let before = try count(db)
        try db.execute(sql: "PRAGMA incremental_vacuum(\(slice))")
        let now = try count(db)
        // A file without incremental vacuum returns no pages.
        return try now < before && now > max(few, pragma("page_count", db) / 20)
    }

    private static func count(_ db: Database) throws -> Int { try pragma("freelist_count", db) }

    private static func pragma(_ name: String, _ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
    }
}
