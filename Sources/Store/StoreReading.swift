internal import Foundation
internal import GRDB

extension Store {
    /// Passes every current record of a component to a closure, in the order of the keys' bytes.
    ///
    /// All records are of one snapshot. The bytes are valid only during the call.
    ///
    /// - Parameters:
    ///   - container: the container's name.
    ///   - component: the component's name; an unknown one has no records.
    ///   - key: starts after this key; nil: at the first record.
    ///   - tally: counts the rows; pass the same one to all readings of a component's records.
    ///   - expecting: called first, with the number of records as far as it is known. While purged ones are being
    ///     deleted it is greater; where the stored number is damaged it is wrong, but no more than fit into the file.
    ///   - body: receives the record's key, its value (nil if the record is damaged), and the sequence of the last
    ///     change. An error that it throws ends the reading and is rethrown.
    /// - Throws: `StoreError` if the file can't be read, and the errors of `body`.
    public func forEachRecord(
        container: String, component: String, after key: String? = nil,
        tally: inout RecordTally, expecting: (_ count: Int) throws -> Void = { _ in },
        _ body: (
            _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ sequence: Int64
        ) throws -> Void
    ) throws {
        do {
            try readRecords { late, db in
                let scan = try RecordScan(container, component, late, db, keeping: damagedRows)
                try expecting(scan.likelyCount())
                try scan.run(after: key, &tally) {
                    try body($0, $1, $2)
                    return true
                }
            }
        } catch let error as DatabaseError {
            throw failure(error, "reading records from")
        }
    }

    /// Does the same as ``forEachRecord(container:component:after:tally:expecting:_:)``, in one reading.
    ///
    /// - Returns: the difference between the component's records and its stored count; nil: there is none, or the
    ///   reading started after a key.
    @discardableResult
    public func forEachRecord(
        container: String, component: String, after key: String? = nil,
        expecting: (_ count: Int) throws -> Void = { _ in },
        _ body: (
            _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ sequence: Int64
        ) throws -> Void
    ) throws -> RecordDifference? {
        var tally = RecordTally()
        try forEachRecord(
            container: container, component: component, after: key, tally: &tally,
            expecting: expecting, body)
        return key == nil ? tally.difference : nil
    }

    /// Looks up current records, all of the same moment, for each key in turn.
    ///
    /// It throws if the file can't be read, and `.corrupt` if one of the records is damaged.
    public func records(_ keys: [RecordKey]) throws(StoreError) -> [StoredRecord?] {
        do {
            return try readRecords { late, db in try records(keys, late, db) }
        } catch {
            throw failure(error, "reading records from")
        }
    }

    /// Looks up current records, all of the same moment, for each key in turn; `damaged` receives the keys of damaged
    /// ones.
    public func records(
        _ keys: [RecordKey], damaged: inout [RecordKey]
    ) throws(StoreError) -> [StoredRecord?] {
        do {
            var found: [RecordKey] = []
            let records: [StoredRecord?] = try readRecords { late, db in
                found = []
                return try self.records(keys, late, db) { found.append($0) }
            }
            damaged += found
            return records
        } catch {
            throw failure(error, "reading records from")
        }
    }

    /// Reads the file's records together with the tail, as of the same moment.
    private func readRecords<T>(
        _ body: (LateRecords.Table, Database) throws -> T
    ) throws -> T {
        for _ in 0..<Self.looks {
            let late = writer.late.current
            let result: T? = try pool.read { db in
                // The file may already contain newer changes; the table of the tail will follow in a moment.
                guard try Self.applied(db) == late.applied else { return nil }
                return try body(late, db)
            }
            if let result { return result }
            sched_yield()
        }
        throw Self.unlikeApplied
    }

    /// The number of times that a reader tries to get both from the same moment, which takes some seconds.
    static let looks = 100_000

    /// The error for a file and a tail that don't match.
    static var unlikeApplied: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CORRUPT, message: "the file does not say what was applied")
    }

    /// The last entry whose changes are written to the file's records.
    static func applied(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT value FROM meta WHERE name = 'applied'")) ?? 0
    }

    /// Does the same as ``records(_:)`` within a transaction; with `damaged`, the same as ``records(_:damaged:)``.
    func records(
        _ keys: [RecordKey], _ late: LateRecords.Table, _ db: Database,
        damaged: ((RecordKey) -> Void)? = nil
    ) throws -> [StoredRecord?] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT value, sequence, created, sum FROM records
                WHERE component = (\(Self.componentID)) AND key = ? AND NOT (\(Purged.condition))
                """)
        return try keys.map { key in
            let row = try Row.fetchOne(
                statement, arguments: [key.container, key.component, Data(key.key.utf8)])
            let late = late[key]
            if let late, late.value == nil { return nil }
            var known: StoredRecord?
            var isDamaged = false
            if let row, late?.isNew != true {
                let found = StoredRecord(
                    value: try row.withUnsafeData(atIndex: 0) { Self.bytes($0) },
                    sequence: row.number(1) ?? 0, created: row.number(2) ?? 0)
                let sum = ComponentSum(container: key.container, component: key.component)
                    .record(
                        key: key.key, value: found.value, sequence: found.sequence,
                        created: found.created)
                if sum == row.number(3) { known = found } else { isDamaged = true }
            }
            // The tail's value replaces a damaged record.
            if let late, let value = late.value {
                return StoredRecord(
                    value: value, sequence: late.sequence, created: known?.created ?? late.created)
            }
            guard isDamaged else { return known }
            guard let damaged else { throw DamagedRecord(key) }
            damaged(key)
            return nil
        }
    }

    /// The names of a container's components that have records, or once had; ordered.
    public func components(of container: String) throws(StoreError) -> [String] {
        try read("reading components from") { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM components
                    WHERE container = (SELECT id FROM containers WHERE name = ?) ORDER BY name
                    """, arguments: [container])
        }
    }

    /// The names of all containers that ever had an entry or a record, ordered.
    public func containers() throws(StoreError) -> [String] {
        try read("reading containers from") { db in
            try String.fetchAll(db, sql: "SELECT name FROM containers ORDER BY name")
        }
    }

    /// The number of the container's entries; 0 for an unknown container.
    public func position(of container: String) throws(StoreError) -> Int64 {
        try read("reading a position from") { db in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT MAX(c.position, IFNULL(
                        (SELECT MAX(e.position) FROM entries e
                        WHERE e.container = c.id AND e.sequence >
                            (SELECT value FROM meta WHERE name = 'applied')), 0))
                    FROM containers c WHERE c.name = ?
                    """, arguments: [container])
        } ?? 0
    }

    /// The notifications after a sequence, in order.
    ///
    /// Entries without a notification leave gaps in the sequences; `trimmedThrough` returns which ones were deleted.
    /// Damaged notifications are marked as such, and entries that are gone are named.
    ///
    /// - Parameters:
    ///   - sequence: starts with the next sequence.
    ///   - limit: the most entries to read.
    ///   - isWanted: whether to return notifications of a topic; others only count towards the limit.
    /// - Returns: the notifications.
    /// - Throws: `StoreError` if the file can't be read.
    public func notifications(
        after sequence: Int64, limit: Int, where isWanted: (_ topic: String) -> Bool = { _ in true }
    ) throws(StoreError) -> StoredPast {
        // Committed before the snapshot is taken, so that each of them up to here has its row there.
        let end = lastSequence
        return try read("reading notifications from") { db in
            let trimmed = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT value FROM meta WHERE name = 'trimmed'"))
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT e.topic, e.sequence, e.time, e.actor, e.public, e.restricted,
                            e.changes, e.sum, e.position, c.name
                        FROM entries e LEFT JOIN containers c ON c.id = e.container
                        WHERE e.sequence > ? ORDER BY e.sequence LIMIT ?
                        """), arguments: [sequence, max(0, limit)])
            var past = StoredPast(after: sequence, trimmed: trimmed ?? 0)
            var count = 0
            while let row = try rows.next() {
                let sequence: Int64 = row[1]
                guard sequence > past.last else {
                    throw DatabaseError(
                        resultCode: .SQLITE_CORRUPT,
                        message: "entry \(sequence) stands behind entry \(past.last)")
                }
                count += 1
                past.come(to: sequence)
                // NULL: an entry without a notification, whose row is read to see that it is there.
                guard let topic = row[0] as String?, isWanted(topic) else { continue }
                past.notifications.append(try StoredNotification(row, topic))
            }
            past.isEnd = count < limit
            if past.isEnd { past.end(at: end) }
            return past
        }
    }

    /// The sequence up to which notifications were deleted; 0 if none were.
    ///
    /// A subscriber with a cursor before it has a gap; one with a cursor at or after it has none.
    public func trimmedThrough() throws(StoreError) -> Int64 {
        try read("reading notifications from") { db in
            try Int64.fetchOne(db, sql: "SELECT value FROM meta WHERE name = 'trimmed'")
        } ?? 0
    }

    /// All actors, ordered by number; erased ones have an empty name, and damaged rows are left out.
    public func actors() throws(StoreError) -> [Actor] {
        try read("reading actors from") { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT number, name, rowsum FROM actors ORDER BY number")
            var actors: [Actor] = []
            while let row = try rows.next() {
                let (number, name) = (try row.requiredNumber(0), row.blob(1) ?? Data())
                guard RowSum.actor(number: number, name: name) == row.number(2) else { continue }
                actors.append(Actor(number: number, name: Self.string(name)))
            }
            return actors
        }
    }

    private func read<T>(
        _ operation: String, _ body: (Database) throws -> T
    ) throws(StoreError) -> T {
        do {
            return try pool.read(body)
        } catch {
            throw failure(error, operation)
        }
    }

    /// Maps an error; reports that the store is closed if that is the cause.
    func failure(_ error: any Error, _ operation: String) -> StoreError {
        writer.condition.noteDamage(error)
        return switch error {
        case _ where writer.condition.isClosed: .closed(file: file)
        case let error as DatabaseError
        where error.resultCode == .SQLITE_CANTOPEN && writer.condition.findLostFile() != nil:
            .gone(file: file)
        case let damaged as DamagedRecord: .corrupt(file: file, reason: damaged.reason)
        default: StoreError(error, file: file, operation: operation)
        }
    }

    static let componentID = """
        SELECT c.id FROM components c JOIN containers o ON o.id = c.container
        WHERE o.name = ? AND c.name = ?
        """

    static func string(_ data: Data?) -> String {
        data.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    static func bytes(_ data: Data?) -> [UInt8] {
        data.map { [UInt8]($0) } ?? []
    }
}
