internal import Foundation
internal import GRDB

/// What the store held at one moment, to be read in parts while it moves on.
///
/// Its reads are synchronous: make them away from the event loop. The log can't be shortened while it
/// is there, so read on and let go of it.
public final class Snapshot: Sendable {
    /// The sequence of the last entry that it shows, 0 before the first.
    public let sequence: Int64
    private let store: Store
    private let snapshot: DatabaseSnapshot
    private let late: LateRecords.Table

    init(of store: Store) throws {
        self.store = store
        for _ in 0..<Store.looks {
            let late = store.writer.late.current
            let snapshot = try store.pool.makeSnapshot()
            // The file may be ahead by what was made meanwhile.
            guard try snapshot.read(Store.applied) == late.applied else {
                sched_yield()
                continue
            }
            self.snapshot = snapshot
            self.late = late
            sequence = late.last
            return
        }
        throw Store.unlikeApplied
    }

    /// Hands over a component's records, ordered by the bytes of their keys, until told to stop.
    ///
    /// - Parameters:
    ///   - container: the container's name.
    ///   - component: the component's name; an unknown one has no records.
    ///   - key: begins with the record after this key; nil: with the first.
    ///   - tally: counts the rows: give the same one to all readings of a component's records.
    ///   - body: takes key and value, nil where the record is damaged; false: that was enough.
    /// - Throws: `StoreError` when the file can't be read.
    public func forEachRecord(
        container: String, component: String, after key: String?, tally: inout RecordTally,
        _ body: (_ key: String, _ value: [UInt8]?) -> Bool
    ) throws(StoreError) {
        do {
            try snapshot.read { db in
                let scan = try RecordScan(container, component, late, db)
                try scan.run(after: key, &tally) { key, value, _ in
                    body(String(decoding: key, as: UTF8.self), value.map { Array($0) })
                }
            }
        } catch {
            throw store.failure(error, "reading records from")
        }
    }

    /// As ``forEachRecord(container:component:after:tally:_:)``, for who does not want to know how many there are.
    public func forEachRecord(
        container: String, component: String, after key: String?,
        _ body: (_ key: String, _ value: [UInt8]?) -> Bool
    ) throws(StoreError) {
        var tally = RecordTally()
        try forEachRecord(
            container: container, component: component, after: key, tally: &tally, body)
    }

    /// What stands under a key.
    public enum Found: Sendable {
        /// No record.
        case nothing
        /// One that is not what was written.
        case damaged
        /// A record's value.
        case value([UInt8])
    }

    /// Looks up one record.
    ///
    /// - Parameter key: which.
    /// - Returns: what stands there.
    /// - Throws: `StoreError` when the file can't be read.
    public func record(_ key: RecordKey) throws(StoreError) -> Found {
        do {
            return try snapshot.read { db in
                let record = try store.records([key], late, db)[0]
                return record.map { .value($0.value) } ?? .nothing
            }
        } catch is DamagedRecord {
            return .damaged
        } catch {
            throw store.failure(error, "reading records from")
        }
    }

    /// Reads the file as it was.
    func read<T>(_ body: (Database) throws -> T) throws(StoreError) -> T {
        do {
            return try snapshot.read(body)
        } catch {
            throw store.failure(error, "reading")
        }
    }
}

extension Snapshot {
    /// Why something that was read can't be used.
    ///
    /// - Parameter reason: what is wrong with the file.
    /// - Returns: the error, which names the file.
    public func damaged(_ reason: String) -> StoreError {
        .corrupt(file: store.file, reason: reason)
    }
}

extension Store {
    /// What is committed now, to be read in parts.
    ///
    /// - Throws: `StoreError` when the file can't be read.
    public func snapshot() throws(StoreError) -> Snapshot {
        // Its connection would be a new one to the file, which may be another process's by now.
        guard !writer.isClosed else { throw .closed(file: file) }
        do {
            return try Snapshot(of: self)
        } catch {
            throw failure(error, "reading")
        }
    }
}
