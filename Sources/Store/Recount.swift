internal import Foundation
internal import GRDB

/// The result of one step of a ``Recount``.
public struct RecountSlice: Sendable {
    /// The container; empty for the registry's own records, and for the log.
    public var container = ""
    /// The component; nil: the log's entries were read.
    public var component: String?
    /// The number of rows that were read.
    public var rows = 0
    /// The keys, or sequences, of damaged rows.
    public var damaged: [String] = []
    /// Whether this was the last step for the component or the log.
    public var isEnd = false
    /// The difference between a component's records and its stored count, at its last step; nil: there is none.
    public var difference: RecordDifference?
    /// The number of entries missing from the log before those that were read, or at its end.
    public var missing = 0
    /// The problems in rows of the small tables, in sentences for people.
    public var problems: [String] = []
}

/// Reads the whole store as of one moment, and checks whether it is as it was written.
///
/// It checks the sums and the number of records; the sums of entries, and that no sequence or position is missing;
/// and the sums and the number of rows in the small tables.
///
/// A step reads about 2,000 rows or 8 MiB, or a single larger row. Memory use grows only with the numbers of
/// components and containers.
///
/// Sendable because its owner runs one step at a time, each on a thread for reading.
public final class Recount: @unchecked Sendable {
    private static let rows = 2_000
    private static let bytes = 8 << 20

    private struct Component {
        var id: Int64
        var container: String
        var name: String
        var records: Int
        var sum: Int64
    }

    private let snapshot: Snapshot
    private var components: ArraySlice<Component>
    private var tables: TableCheck?
    private var log: LogRecount?
    /// The last key that was read of the first remaining component.
    private var last: Data?
    private var count = 0
    private var sums: Int64 = 0

    /// Creates a recount of a container's records, or of all records and the log.
    ///
    /// The tail is written to the records first, so that records that replace damaged ones are in their rows.
    public init(of store: Store, container: String?) throws(StoreError) {
        // If the tail can't be written, the file is read as it is.
        try? store.writer.finishTail()
        snapshot = try store.snapshot()
        components = try snapshot.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT c.id, o.name, c.name, c.records, c.sum FROM components c
                    JOIN containers o ON o.id = c.container WHERE o.name = ?1 OR ?1 IS NULL
                    ORDER BY o.name, c.name
                    """, arguments: [container]
            ).map { row in
                Component(
                    id: row.number(0) ?? 0, container: row.text(1) ?? "", name: row.text(2) ?? "",
                    records: max(0, Int(row.number(3) ?? 0)), sum: row.number(4) ?? 0)
            }[...]
        }
        guard container == nil else { return }
        tables = TableCheck()
        log = try snapshot.read(LogRecount.init)
    }

    /// Reads the next step, nil if nothing is left; call it away from the event loop.
    public func next() throws(StoreError) -> RecountSlice? {
        if let problems = try snapshot.read({ db in try tables?.next(db) }) {
            var slice = RecountSlice()
            slice.problems = problems
            return slice
        }
        tables = nil
        guard let component = components.first else {
            let slice = try snapshot.read { db in try log?.next(db) }
            if slice?.isEnd ?? false { log = nil }
            return slice
        }
        var slice = RecountSlice(container: component.container, component: component.name)
        try snapshot.read { db in try read(component, &slice, db) }
        guard slice.isEnd else { return slice }
        if count != component.records || sums != component.sum {
            slice.difference = RecordDifference(expected: component.records, found: count)
        }
        components.removeFirst()
        (last, count, sums) = (nil, 0, 0)
        return slice
    }

    private func read(
        _ component: Component, _ slice: inout RecountSlice, _ db: Database
    ) throws {
        let start = ComponentSum(container: component.container, component: component.name)
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT key, value, sequence, created, sum FROM records
                    WHERE component = ? AND key >= ? ORDER BY key
                    """), arguments: [component.id, last.map { $0 + [0] } ?? Data()])
        var bytes = 0
        while slice.rows < Self.rows, bytes < Self.bytes {
            guard let row = try rows.next() else {
                slice.isEnd = true
                return
            }
            bytes += try count(row, start, &slice)
        }
    }

    /// Adds a row to the count; returns the size of the row in bytes.
    private func count(
        _ row: Row, _ start: ComponentSum, _ slice: inout RecountSlice
    ) throws -> Int {
        let key = try row.withUnsafeData(atIndex: 0) { $0 ?? Data() }
        // In a damaged row, a column that is not a number counts as 0.
        let (sequence, created) = (row[2] as Int64? ?? 0, row[3] as Int64? ?? 0)
        let sum = row[4] as Int64? ?? 0
        let (found, length) = try row.withUnsafeData(atIndex: 1) { value in
            key.withUnsafeBytes { key in
                (value ?? Data()).withUnsafeBytes { value in
                    let found = start.record(
                        key: key, value: value, sequence: sequence, created: created)
                    return (found, key.count + value.count)
                }
            }
        }
        // A row in a wrong place is read, but not found by its key.
        let isInOrder = last?.lexicographicallyPrecedes(key) ?? true
        if found != sum || !isInOrder { slice.damaged.append(Store.string(key)) }
        slice.rows += 1
        count += 1
        sums ^= sum
        if isInOrder { last = Data(key) }
        return length
    }
}
