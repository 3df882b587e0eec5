internal import Foundation
internal import GRDB

/// By how many records a component differs from what it counted itself.
public struct RecordDifference: Sendable, Hashable {
    /// How many there should be.
    public var expected: Int
    /// How many there are.
    public var found: Int
}

/// What was counted of a component's rows, perhaps in several readings one after the other.
public struct RecordTally: Sendable {
    private var expected: (records: Int, sum: Int64)?
    /// Whether the rows were others in a later reading than in the first.
    private var isMixed = false
    fileprivate var found = 0
    fileprivate var sum: Int64 = 0

    /// Nothing, yet.
    public init() {}

    /// A reading begins, of a component that has counted so much itself.
    fileprivate mutating func begin(_ records: Int, _ sum: Int64) {
        if let expected, expected != (records, sum) { isMixed = true }
        expected = (records, sum)
    }

    /// How the component, which was read through, differs from what it counted itself; nil: it does not, or its
    /// rows changed between the readings.
    public var difference: RecordDifference? {
        guard let expected, !isMixed, found != expected.records || sum != expected.sum else {
            return nil
        }
        return RecordDifference(expected: expected.records, found: found)
    }
}

/// Reads a component's records, and looks whether they are as they were written.
struct RecordScan {
    /// How many rows it should have, those that are purged and not deleted yet among them.
    let expected: Int
    private let expectedSum: Int64
    private let component: Int64?
    private let sums: ComponentSum
    private let isPurged: String
    /// What waits to be made to the component's records, by key.
    private let late: [(key: [UInt8], LateRecords.Late)]
    private let db: Database
    private let name: (container: String, component: String)
    /// Keeps copies of damaged rows; nil: nobody does.
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
        expected = Int(row?.number(1) ?? 0)
        expectedSum = row?.number(2) ?? 0
        // Most of the time there is nothing to leave out, and each condition costs a row its time.
        isPurged = try Purged.isPending(container, component, db) ? Purged.condition : "0"
    }

    typealias Body = (UnsafeRawBufferPointer, UnsafeRawBufferPointer?, Int64) throws -> Bool

    /// Reads the records, by the bytes of their keys.
    ///
    /// - Parameters:
    ///   - key: begins with the record after this key; nil: with the first.
    ///   - tally: counts the rows.
    ///   - body: takes key, value, nil where the record is damaged, and the sequence of the last
    ///     change; false: that was enough.
    /// - Throws: what the database or the body throws.
    func run(after key: String?, _ tally: inout RecordTally, _ body: Body) throws {
        guard let component else { return }
        defer { kept?.save() }
        tally.begin(expected, expectedSum)
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT key, value, sequence, created, sum, \(isPurged) FROM records
                    WHERE component = ? \(key == nil ? "" : "AND key > ?") ORDER BY key
                    """),
            arguments: [component] + (key.map { [Data($0.utf8)] } ?? StatementArguments()))
        let start = key.map { Array($0.utf8) }
        var late = late[...].drop { entry in
            start.map { !$0.lexicographicallyPrecedes(entry.key) } ?? false
        }
        while let row = try rows.next() {
            let goesOn = try row.withUnsafeData(atIndex: 0) { key in
                try (key ?? Data()).withUnsafeBytes { key in
                    try hand(row, key, &late, &tally, body)
                }
            }
            guard goesOn else { return }
        }
        while let (key, entry) = late.popFirst() {
            guard try hand(key, entry, body) else { return }
        }
    }

    /// Hands over what waits for keys before a row's, and the row, or what waits for that.
    ///
    /// A row is counted once its turn has come: whoever stops before it reads it again.
    private func hand(
        _ row: Row, _ key: UnsafeRawBufferPointer,
        _ late: inout ArraySlice<(key: [UInt8], LateRecords.Late)>, _ tally: inout RecordTally,
        _ body: Body
    ) throws -> Bool {
        while let (other, entry) = late.first, other.lexicographicallyPrecedes(key) {
            late.removeFirst()
            guard try hand(other, entry, body) else { return false }
        }
        tally.found += 1
        // Even a column that is never NULL may be in a damaged row.
        tally.sum ^= row[4] as Int64? ?? 0
        if let (other, entry) = late.first, key.elementsEqual(other) {
            late.removeFirst()
            return try hand(other, entry, body)
        }
        let isPurged: Bool = row[5]
        if isPurged { return true }
        return try row.withUnsafeData(atIndex: 1) { value in
            try (value ?? Data()).withUnsafeBytes { value in
                let (sequence, sum) = (row[2] as Int64? ?? 0, row[4] as Int64? ?? 0)
                let created = row[3] as Int64? ?? 0
                let found = sums.record(
                    key: key, value: value, sequence: sequence, created: created)
                if found == sum { return try body(key, value, sequence) }
                kept?.note(
                    name.container, name.component, key: key, value: value, sequence: sequence,
                    created: created, sum: sum)
                return try body(key, nil, sequence)
            }
        }
    }

    private func hand(_ key: [UInt8], _ late: LateRecords.Late, _ body: Body) throws -> Bool {
        guard let value = late.value else { return true }
        return try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { try body(key, $0, late.sequence) }
        }
    }
}

/// A record whose sum is not that of what it holds.
struct DamagedRecord: Error {
    let reason: String

    init(_ key: RecordKey) {
        reason =
            "the record '\(key.key)' of the component \(key.component) of \(key.container) is not what "
            + "was written"
    }
}
