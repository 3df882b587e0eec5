internal import Foundation
internal import GRDB

extension Store {
    /// Hands over every current record of a component, ordered by the bytes of its key.
    ///
    /// All come from one snapshot. The value's bytes are valid only during the call.
    ///
    /// - Parameters:
    ///   - container: the container's name.
    ///   - component: the component's name; an unknown one has no records.
    ///   - key: begins with the record after this key; nil: with the first.
    ///   - body: takes key, value, the sequence of the last change and that of the creation; what it
    ///     throws ends the reading and is rethrown as it is.
    /// - Throws: `StoreError` when the file can't be read, or what `body` throws.
    public func forEachRecord(
        container: String, component: String, after key: String? = nil,
        _ body: (
            _ key: String, _ value: UnsafeRawBufferPointer, _ sequence: Int64, _ created: Int64
        ) throws -> Void
    ) throws {
        do {
            try pool.read { db in
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT key, value, sequence, created FROM records
                        WHERE component = (\(Self.componentID))
                        \(key == nil ? "" : "AND key > ?")
                        \(Purged.exclusion(container, component, db)) ORDER BY key
                        """,
                    arguments: [container, component]
                        + (key.map { [Data($0.utf8)] } ?? StatementArguments()))
                while let row = try rows.next() {
                    let key = try row.withUnsafeData(atIndex: 0) { Self.string($0) }
                    try row.withUnsafeData(atIndex: 1) { value in
                        try (value ?? Data()).withUnsafeBytes { try body(key, $0, row[2], row[3]) }
                    }
                }
            }
        } catch let error as DatabaseError {
            throw failure(error, "reading records from")
        }
    }

    /// Hands over every current record of a component as bytes, ordered by the bytes of its key.
    ///
    /// All come from one snapshot. The bytes are valid only during the call.
    ///
    /// - Parameters:
    ///   - container: the container's name.
    ///   - component: the component's name; an unknown one has no records.
    ///   - expecting: told first how many there are; more, while purged ones are being deleted.
    ///   - body: takes key, value and the sequence of the last change; what it throws ends the
    ///     reading and is rethrown as it is.
    /// - Throws: `StoreError` when the file can't be read, or what `body` throws.
    public func forEachStoredRecord(
        container: String, component: String, expecting: (_ count: Int) throws -> Void,
        each body: (
            _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ sequence: Int64
        ) throws -> Void
    ) throws {
        do {
            try pool.read { db in
                try expecting(
                    try Int.fetchOne(
                        db,
                        sql: "SELECT COUNT(*) FROM records WHERE component = (\(Self.componentID))",
                        arguments: [container, component]) ?? 0)
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT key, value, sequence FROM records
                        WHERE component = (\(Self.componentID))
                        \(Purged.exclusion(container, component, db)) ORDER BY key
                        """, arguments: [container, component])
                while let row = try rows.next() {
                    try row.withUnsafeData(atIndex: 0) { key in
                        try row.withUnsafeData(atIndex: 1) { value in
                            try (key ?? Data()).withUnsafeBytes { key in
                                try (value ?? Data()).withUnsafeBytes { try body(key, $0, row[2]) }
                            }
                        }
                    }
                }
            }
        } catch let error as DatabaseError {
            throw failure(error, "reading records from")
        }
    }

    /// Looks up current records, all in one snapshot.
    ///
    /// - Returns: for each key in turn its record, or nil where there is none.
    public func records(_ keys: [RecordKey]) throws(StoreError) -> [StoredRecord?] {
        try read("reading records from") { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT value, sequence, created FROM records
                    WHERE component = (\(Self.componentID)) AND key = ? AND NOT (\(Purged.condition))
                    """)
            return try keys.map { key in
                let row = try Row.fetchOne(
                    statement, arguments: [key.container, key.component, Data(key.key.utf8)])
                guard let row else { return nil }
                let value = try row.withUnsafeData(atIndex: 0) { Self.bytes($0) }
                return StoredRecord(value: value, sequence: row[1], created: row[2])
            }
        }
    }

    /// The components of a container that have, or once had, records; ordered by name.
    public func components(of container: String) throws(StoreError) -> [StoredComponent] {
        try read("reading components from") { db in
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM components
                    WHERE container = (SELECT id FROM containers WHERE name = ?) ORDER BY name
                    """, arguments: [container])
            return try names.map { name in
                let records = try Int.fetchOne(
                    db,
                    sql: """
                        SELECT COUNT(*) FROM records WHERE component = (\(Self.componentID))
                        \(Purged.exclusion(container, name, db))
                        """, arguments: [container, name])
                return StoredComponent(name: name, records: records ?? 0)
            }
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
                db, sql: "SELECT position FROM containers WHERE name = ?", arguments: [container])
        } ?? 0
    }

    /// The notifications that follow a sequence, in order, at most `limit` of them.
    ///
    /// Entries without a notification leave holes in their sequences; see `trimmedThrough` for what
    /// is not here any more.
    public func notifications(
        after sequence: Int64, limit: Int
    ) throws(StoreError) -> [StoredNotification] {
        try read("reading notifications from") { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT n.sequence, e.time, n.topic, e.actor, n.payload, n.restricted
                    FROM notifications n JOIN entries e ON e.sequence = n.sequence
                    WHERE n.sequence > ? ORDER BY n.sequence LIMIT ?
                    """, arguments: [sequence, max(0, limit)])
            var notifications: [StoredNotification] = []
            while let row = try rows.next() {
                let isPublic = row.hasNull(atIndex: 5)
                notifications.append(
                    StoredNotification(
                        sequence: row[0], time: row[1], topic: row[2], actor: row[3],
                        payload: try row.withUnsafeData(atIndex: 4) { Self.bytes($0) },
                        restricted: isPublic
                            ? nil : try row.withUnsafeData(atIndex: 5) { Self.bytes($0) }))
            }
            return notifications
        }
    }

    /// The sequence of the oldest notification that is kept; nil when there is none.
    public func oldestNotification() throws(StoreError) -> Int64? {
        try read("reading notifications from") { db in
            try Int64.fetchOne(db, sql: "SELECT MIN(sequence) FROM notifications")
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

    /// All actors, ordered by number; an erased one has the empty name.
    public func actors() throws(StoreError) -> [Actor] {
        try read("reading actors from") { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT number, name FROM actors ORDER BY number")
            var actors: [Actor] = []
            while let row = try rows.next() {
                let name = try row.withUnsafeData(atIndex: 1) { Self.string($0) }
                actors.append(Actor(number: row[0], name: name))
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
        writer.isClosed
            ? .closed(file: file) : StoreError(error, file: file, operation: operation)
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
