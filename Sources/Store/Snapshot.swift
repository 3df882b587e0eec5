internal import Foundation
internal import GRDB

/// The store as of one moment, to be read in parts while writes continue.
///
/// Reads are synchronous: make them away from the event loop. The log can't be shortened while the snapshot exists,
/// so release it soon.
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
            // The file may already contain newer changes: look again.
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

    /// Passes a component's records to a closure, in the order of their keys' bytes, until the closure returns false.
    ///
    /// - Parameters:
    ///   - container: the container's name.
    ///   - component: the component's name; an unknown one has no records.
    ///   - key: starts after this key; nil: at the first record.
    ///   - tally: counts the rows; pass the same one to all readings of a component's records.
    ///   - body: receives the key and the value (nil if the record is damaged); returns false to stop.
    /// - Throws: `StoreError` if the file can't be read.
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

    /// Does the same as ``forEachRecord(container:component:after:tally:_:)``, without a tally.
    public func forEachRecord(
        container: String, component: String, after key: String?,
        _ body: (_ key: String, _ value: [UInt8]?) -> Bool
    ) throws(StoreError) {
        var tally = RecordTally()
        try forEachRecord(
            container: container, component: component, after: key, tally: &tally, body)
    }

    /// The result of looking up a key.
    public enum Found: Sendable {
        /// No record.
        case nothing
        /// A damaged record.
        case damaged
        /// A record's value.
        case value([UInt8])
    }

    /// Looks up one record: its value, `nothing`, or `damaged`.
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

    /// Returns the problems of the rows that assign records to components, a sentence each.
    ///
    /// If there are any, records of any container may not be found, or may be hidden as if they were purged.
    public func problemsOfPlaces() throws(StoreError) -> [String] {
        try read(TableCheck.problemsOfPlaces)
    }

    /// Reads the file as of the snapshot's moment.
    func read<T>(_ body: (Database) throws -> T) throws(StoreError) -> T {
        do {
            return try snapshot.read(body)
        } catch {
            throw store.failure(error, "reading")
        }
    }
}

extension Snapshot {
    /// Makes an error, which names the file, for content that can't be used.
    public func damaged(_ reason: String) -> StoreError {
        .corrupt(file: store.file, reason: reason)
    }
}

extension Store {
    /// Takes a snapshot of the present committed state; throws if the file can't be read.
    public func snapshot() throws(StoreError) -> Snapshot {
        // A closed store's path may by now be a file of another process.
        guard !writer.condition.isClosed else { throw .closed(file: file) }
        do {
            return try Snapshot(of: self)
        } catch {
            throw failure(error, "reading")
        }
    }
}
