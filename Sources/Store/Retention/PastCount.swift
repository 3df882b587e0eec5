internal import Foundation
internal import GRDB

/// What there is of the past, and what of it is to go.
///
/// It belongs to the writer's queue. Ages are counted from the newest entry and not from a clock: a clock that is
/// set back trims nothing, one that is set forward trims once an entry is written under it.
struct PastCount {
    /// How many rows one slice looks at.
    static let slice = 2_000
    /// What an entry counts for beside its topic and payloads; also one that has none.
    private static let row = 64

    var limits: Retention
    private(set) var count = 0
    private(set) var bytes = 0
    private var oldest: Int64 = .max
    private var newest: Int64 = .min
    /// The last entry that is counted.
    private(set) var through: Int64 = 0
    /// Whether the last slice left what is beyond the limits, since nothing could go.
    private var isStuck = false

    private static let size = """
        \(row) + IFNULL(length(topic), 0) + IFNULL(length(public), 0) + IFNULL(length(restricted), 0)
        """

    init(_ limits: Retention) { self.limits = limits }

    /// Counts what was committed since it was counted last.
    mutating func countRest(_ db: Database) throws {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT COUNT(topic), IFNULL(SUM(\(Self.size)), 0), MAX(sequence) FROM entries
                WHERE sequence > ?
                """, arguments: [through])
        guard let row, let last = row[2] as Int64? else { return }
        count += row[0]
        bytes += row[1]
        through = last
        newest = try Self.time(of: "DESC", db) ?? newest
        oldest = try Self.time(of: "ASC", db) ?? oldest
    }

    private static func time(of end: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT time FROM entries ORDER BY sequence \(end) LIMIT 1")
    }

    /// An entry was committed.
    mutating func add(_ entry: Entry, _ sequence: Int64) {
        guard sequence > through else { return }
        through = sequence
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

    /// Nothing is tried until another entry comes.
    mutating func rest() { isStuck = true }

    /// Whether so much is beyond the limits that a slice is worth its transaction.
    var isDue: Bool { !isStuck && (isBeyond(limits, slack: 50) || isTooOld(oldest, slack: 50)) }

    /// Whether anything is beyond the limits.
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

    /// Deletes the oldest rows, as many as are beyond the limits, within a transaction.
    ///
    /// The last entry stays: it is the store's sequence. Those whose changes wait stay, too.
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
            oldest = row[1]
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
        oldest = try Self.time(of: "ASC", db) ?? .max
    }
}

extension FixedWidthInteger {
    /// The sum, or the greatest number.
    fileprivate func adding(_ other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// Gives pages that the file does not need back to the file system, some at a time.
enum SparePages {
    /// What a file may have to spare: pages that the next entries take.
    private static let few = 1_024
    private static let slice = 256

    /// Whether it has so many that some are worth being given back.
    static func areMany(_ db: Database) throws -> Bool {
        try count(db) > max(few, pragma("page_count", db) / 10)
    }

    /// Gives some back; whether there are more of them.
    static func giveBack(_ db: Database) throws -> Bool {
        let before = try count(db)
        try db.execute(sql: "PRAGMA incremental_vacuum(\(slice))")
        let now = try count(db)
        // A file of another kind gives none back.
        return try now < before && now > max(few, pragma("page_count", db) / 20)
    }

    private static func count(_ db: Database) throws -> Int { try pragma("freelist_count", db) }

    private static func pragma(_ name: String, _ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
    }
}
