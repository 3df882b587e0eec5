internal import Foundation
internal import GRDB

extension Store {
    /// Hands over every current record of a component, ordered by the bytes of its key.
    ///
    /// All come from one snapshot. The bytes are valid only during the call.
    ///
    /// - Parameters:
    ///   - container: the container's name.
    ///   - component: the component's name; an unknown one has no records.
    ///   - key: begins with the record after this key; nil: with the first.
    ///   - tally: counts the rows: give the same one to all readings of a component's records.
    ///   - expecting: told first how many there are; more, while purged ones are being deleted.
    ///   - body: takes the record's key, its value, nil where the record is damaged, and the sequence of the
    ///     last change; what it throws ends the reading and is rethrown as it is.
    /// - Throws: `StoreError` when the file can't be read, or what `body` throws.
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
                try expecting(scan.expected)
                try scan.run(after: key, &tally) {
                    try body($0, $1, $2)
                    return true
                }
            }
        } catch let error as DatabaseError {
            throw failure(error, "reading records from")
        }
    }

    /// As ``forEachRecord(container:component:after:tally:expecting:_:)``, in one reading.
    ///
    /// - Returns: how the component differs from what it counted itself; nil where it does not, and where
    ///   reading began behind a key.
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

    /// Looks up current records, all as of one moment.
    ///
    /// - Returns: for each key in turn its record, or nil where there is none.
    /// - Throws: `StoreError` when the file can't be read; `.corrupt` also where one of the records is not what was
    ///   written.
    public func records(_ keys: [RecordKey]) throws(StoreError) -> [StoredRecord?] {
        do {
            return try readRecords { late, db in try records(keys, late, db) }
        } catch {
            throw failure(error, "reading records from")
        }
    }

    /// Looks up current records, all as of one moment, those beside damaged ones too.
    ///
    /// - Parameters:
    ///   - keys: which.
    ///   - damaged: gets the keys of those that are not what was written.
    /// - Returns: for each key in turn its record, or nil where there is none, or a damaged one.
    /// - Throws: `StoreError` when the file can't be read.
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

    /// Reads the file's records beside those that wait to be made to them, as of one moment.
    private func readRecords<T>(
        _ body: (LateRecords.Table, Database) throws -> T
    ) throws -> T {
        for _ in 0..<Self.looks {
            let late = writer.late.current
            let result: T? = try pool.read { db in
                // The file may be ahead by what was made meanwhile: that is known in a moment.
                guard try Self.applied(db) == late.applied else { return nil }
                return try body(late, db)
            }
            if let result { return result }
            sched_yield()
        }
        throw Self.unlikeApplied
    }

    /// How often a reader looks again for what a transaction has made just now: some seconds.
    static let looks = 100_000

    /// The file tells another entry than the one that its records are through.
    static var unlikeApplied: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CORRUPT, message: "the file does not say what was applied")
    }

    /// Through which entry the file's records are.
    static func applied(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT value FROM meta WHERE name = 'applied'")) ?? 0
    }

    /// As ``records(_:)``, of a moment; with `damaged` as ``records(_:damaged:)``.
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
            // What was written since takes the place of a damaged one.
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

    /// The names of the components of a container that have, or once had, records; ordered.
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

    /// How many entries of the container were committed; 0 for an unknown one.
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

    /// The notifications that follow a sequence, in order.
    ///
    /// Entries without a notification leave holes in their sequences; see `trimmedThrough` for what
    /// is not here any more. One that is not what was written says so.
    ///
    /// - Parameters:
    ///   - sequence: begins with the one after it.
    ///   - limit: looks at so many at most.
    ///   - isWanted: whether one of a topic is to be read; those of others are looked at, no more.
    /// - Returns: the notifications, and the sequence of the last that was looked at; nil where
    ///   there are no more.
    /// - Throws: `StoreError` when the file can't be read.
    public func notifications(
        after sequence: Int64, limit: Int, where isWanted: (_ topic: String) -> Bool = { _ in true }
    ) throws(StoreError) -> (notifications: [StoredNotification], through: Int64?) {
        try read("reading notifications from") { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT e.topic, e.sequence, e.time, e.actor, e.public, e.restricted,
                            e.changes, e.sum, e.position, c.name
                        FROM entries e LEFT JOIN containers c ON c.id = e.container
                        WHERE e.sequence > ? AND e.topic IS NOT NULL ORDER BY e.sequence LIMIT ?
                        """), arguments: [sequence, max(0, limit)])
            var notifications: [StoredNotification] = []
            var (count, last) = (0, sequence)
            while let row = try rows.next() {
                let sequence: Int64 = row[1]
                guard sequence > last else {
                    throw DatabaseError(
                        resultCode: .SQLITE_CORRUPT,
                        message: "entry \(sequence) stands behind entry \(last)")
                }
                (count, last) = (count + 1, sequence)
                let topic: String = row[0]
                if isWanted(topic) { notifications.append(try StoredNotification(row, topic)) }
            }
            return (notifications, count == limit ? last : nil)
        }
    }

    /// The sequence up to which notifications were trimmed; 0 if none ever was.
    ///
    /// A cursor before it has missed something, one at it or after it has not.
    public func trimmedThrough() throws(StoreError) -> Int64 {
        try read("reading notifications from") { db in
            try Int64.fetchOne(db, sql: "SELECT value FROM meta WHERE name = 'trimmed'")
        } ?? 0
    }

    /// All actors, ordered by number; an erased one has the empty name, and one whose row is damaged is left out.
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

    /// Says that the store is closed when that is why.
    func failure(_ error: any Error, _ operation: String) -> StoreError {
        writer.noteDamage(error)
        return switch error {
        case _ where writer.isClosed: .closed(file: file)
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
