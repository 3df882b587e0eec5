internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// The difference between a component's stored record count and the records found.
public struct RecordDifference: Sendable, Hashable {
    /// The stored count.
    public var expected: Int
    /// The number of records found.
    public var found: Int
}

/// A count of a component's rows, over one or several readings.
public struct RecordTally: Sendable {
    private var expected: (records: Int, sum: Int64)?
    /// Whether the component's stored count changed between the readings.
    private var isMixed = false
    fileprivate var found = 0
    fileprivate var sum: Int64 = 0

    /// A count of zero.
    public init() {}

    /// Begins a reading of a component with these stored figures.
    fileprivate mutating func begin(_ records: Int, _ sum: Int64) {
        if let expected, expected != (records, sum) { isMixed = true }
        expected = (records, sum)
    }

    /// The difference between the component's rows and the stored figures, after all rows were read.
    ///
    /// Nil: there is none, or the stored figures changed between the readings.
    public var difference: RecordDifference? {
        guard let expected, !isMixed, found != expected.records || sum != expected.sum else {
            return nil
        }
        return RecordDifference(expected: expected.records, found: found)
    }
}

/// Reads a component's records, and checks whether they are damaged.
struct RecordScan {
    /// The number of rows of one reading after which the pages that it has read are released.
    private static let many = 1_024
    /// Nearly all rows take more bytes than that.
    private static let fewestBytes = 64

    /// The stored number of rows, including purged ones that are not deleted yet.
    let expected: Int
    private let expectedSum: Int64
    private let component: Int64?
    private let sums: ComponentSum
    private let isPurged: String
    /// Changes in the tail, not yet written to the component's records, by key.
    private let late: [(key: [UInt8], LateRecords.Late)]
    private let db: Database
    private let name: (container: String, component: String)
    /// Keeps copies of damaged rows; nil: no copies are kept.
    private let kept: DamagedRows?

    init(
        _ container: String, _ component: String, _ late: LateRecords.Table, _ db: Database,
        keeping kept: DamagedRows? = nil
    ) throws {
        self.db = db
        self.kept = kept
        name = (container, component)
        self.late = late.records(container, component)
        sums = ComponentSum(container: container, component: component)
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT id, records, sum FROM components WHERE id = (\(Store.componentID))"),
            arguments: [container, component])
        self.component = row?.number(0)
        // A damaged number may be any.
        expected = max(0, Int(row?.number(1) ?? 0))
        expectedSum = row?.number(2) ?? 0
        // Usually nothing is purged, and each condition costs time for every row.
        isPurged = try Purged.isPending(container, component, db) ? Purged.condition : "0"
    }

    /// The number of rows for which memory may be reserved: never more than the file can hold.
    ///
    /// The stored number may be damaged.
    func likelyCount() throws -> Int {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let size = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        return min(expected, pages * size / Self.fewestBytes)
    }

    typealias Body = (UnsafeRawBufferPointer, UnsafeRawBufferPointer?, Int64) throws -> Bool

    /// Reads the records in the order of their keys' bytes.
    ///
    /// - Parameters:
    ///   - key: starts after this key; nil: at the first record.
    ///   - tally: counts the rows.
    ///   - body: receives the key, the value (nil if the record is damaged), and the sequence of the last change.
    ///     Returns false to stop.
    /// - Throws: errors of the database or the body.
    func run(after key: String?, _ tally: inout RecordTally, _ body: Body) throws {
        guard let component else { return }
        let before = tally.found
        defer {
            kept?.save()
            // What is read in a row is not read again soon: SQLite would keep two megabytes of it for each reader.
            if tally.found - before > Self.many { sqlite3_db_release_memory(db.sqliteConnection) }
        }
        tally.begin(expected, expectedSum)
        let rows = try PreparedStatement(
            """
            SELECT key, value, sequence, created, sum, \(isPurged) FROM records
            WHERE component = ?1 \(key == nil ? "" : "AND key > ?2") ORDER BY key
            """, db)
        rows.bind(component, at: 1)
        if let key { rows.bind(bytesOf: key, at: 2) }
        let start = key.map { Array($0.utf8) }
        var late = late[...].drop { entry in
            start.map { !$0.lexicographicallyPrecedes(entry.key) } ?? false
        }
        var last = start
        while try rows.step() {
            let key = rows.bytes(0)
            let isInOrder = last.map { Self.precedes($0, key) } ?? true
            guard try hand(rows, key, isInOrder: isInOrder, &late, &tally, body) else { return }
            guard isInOrder else { continue }
            if last == nil { last = [] }
            last?.removeAll(keepingCapacity: true)
            last?.append(contentsOf: key)
        }
        while let (key, entry) = late.popFirst() {
            guard try hand(key, entry, body) else { return }
        }
    }

    /// Whether a key comes before another, by their bytes.
    private static func precedes(_ key: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
        let common = min(key.count, other.count)
        let order = other.baseAddress.map { memcmp(key, $0, common) } ?? 0
        return order != 0 ? order < 0 : key.count < other.count
    }

    /// Passes on the tail's records with keys before a row's, then the row, or the tail's record in its place.
    ///
    /// A row is counted only when it is passed on: a reading that stops before it will read it again. A row that is not
    /// in order counts as damaged: it is read here, and not found by its key.
    private func hand(
        _ row: PreparedStatement, _ key: UnsafeRawBufferPointer, isInOrder: Bool,
        _ late: inout ArraySlice<(key: [UInt8], LateRecords.Late)>, _ tally: inout RecordTally,
        _ body: Body
    ) throws -> Bool {
        while let (other, entry) = late.first, other.lexicographicallyPrecedes(key) {
            late.removeFirst()
            guard try hand(other, entry, body) else { return false }
        }
        tally.found += 1
        // In a damaged row even a NOT NULL column may be NULL.
        let sum = row.number(4)
        tally.sum ^= sum
        if let (other, entry) = late.first, key.elementsEqual(other) {
            late.removeFirst()
            return try hand(other, entry, body)
        }
        if row.number(5) != 0 { return true }
        let (value, sequence, created) = (row.bytes(1), row.number(2), row.number(3))
        let found = sums.record(key: key, value: value, sequence: sequence, created: created)
        if found == sum, isInOrder { return try body(key, value, sequence) }
        kept?.add(
            name.container, name.component, key: key, value: value, sequence: sequence,
            created: created, sum: sum)
        return try body(key, nil, sequence)
    }

    private func hand(_ key: [UInt8], _ late: LateRecords.Late, _ body: Body) throws -> Bool {
        guard let value = late.value else { return true }
        return try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { try body(key, $0, late.sequence) }
        }
    }
}

/// A record whose checksum does not match.
struct DamagedRecord: Error {
    let reason: String

    init(_ key: RecordKey) {
        reason =
            "the record '\(key.key)' of the component \(key.component) of \(key.container) is not what "
            + "was written"
    }
}
