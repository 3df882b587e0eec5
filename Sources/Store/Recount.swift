internal import Foundation
internal import GRDB

/// What was read by a ``Recount`` in one step.
public struct RecountSlice: Sendable {
    /// The container; empty for the registry's own records, and for the log.
    public var container = ""
    /// The component; nil: entries of the log were read.
    public var component: String?
    /// How many rows were read.
    public var rows = 0
    /// The keys, or sequences, of those that are not what was written.
    public var damaged: [String] = []
    /// Whether the component, or the log, is read through with it.
    public var isEnd = false
    /// How a component that is read through differs from what it counted itself; nil: it does not.
    public var difference: RecordDifference?
    /// How many entries of the log are missing before those that were read, or at its end.
    public var missing = 0
    /// What is wrong with rows that say where the others belong, in sentences for people.
    public var problems: [String] = []
}

/// Reads the store as it was at one moment, row by row, and looks whether it is as it was written: sums and
/// numbers of the records; sums of the entries, and whether their sequences and positions leave nothing out; sums and
/// numbers of the rows of the small tables.
///
/// A step reads about 2,000 rows or 8 MiB, or a single row with more. What the steps have in memory is bounded by
/// the numbers of components and containers.
///
/// Sendable because its owner makes one step after the other, each on a thread for reading.
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
    /// The last key that was read of the first component.
    private var last: Data?
    private var count = 0
    private var sums: Int64 = 0

    /// A recount of what the store holds now.
    ///
    /// What waits to be made to the records is made first: what was put anew is in a damaged row's place then.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - container: whose records; nil: all, and the log.
    /// - Throws: `StoreError` when the file can't be read.
    public init(of store: Store, container: String?) throws(StoreError) {
        // Where it can't be, the file is looked at as it is.
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
                    records: Int(row.number(3) ?? 0), sum: row.number(4) ?? 0)
            }[...]
        }
        guard container == nil else { return }
        tables = TableCheck()
        log = try snapshot.read(LogRecount.init)
    }

    /// Reads on: call it away from the event loop.
    ///
    /// - Returns: what was read; nil: there was nothing left.
    /// - Throws: `StoreError` when the file can't be read.
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
            bytes += try take(row, start, &slice)
        }
    }

    /// Takes a row into account.
    ///
    /// - Returns: how many bytes it has.
    private func take(
        _ row: Row, _ start: ComponentSum, _ slice: inout RecountSlice
    ) throws -> Int {
        let key = try row.withUnsafeData(atIndex: 0) { $0 ?? Data() }
        // A number that is none in a damaged row counts as 0.
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
        if found != sum { slice.damaged.append(Store.string(key)) }
        slice.rows += 1
        count += 1
        sums ^= sum
        last = Data(key)
        return length
    }
}
