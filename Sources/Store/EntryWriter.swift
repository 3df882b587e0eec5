internal import Foundation
internal import GRDB

/// Writes entries inside a transaction that its caller began, on the writer's connection.
///
/// It remembers ids and positions between transactions; after a rollback `forget()` must be called.
struct EntryWriter {
    private struct Container {
        var id: Int64
        var position: Int64
    }

    private struct ComponentName: Hashable {
        var container: String
        var component: String
    }

    private var containers: [String: Container] = [:]
    private var components: [ComponentName: Int64] = [:]
    /// Whether a record may be there that is purged: one that takes its place is a new one.
    var mayBePurged = true

    private static let put = upsert(created: "records.created")
    private static let putBesidePurges = upsert(
        created: "CASE WHEN \(Purged.condition) THEN excluded.sequence ELSE records.created END")

    private static func upsert(created: String) -> String {
        """
        INSERT INTO records(component, key, value, sequence, created)
        VALUES (?1, ?2, ?3, ?4, ?4)
        ON CONFLICT(component, key)
        DO UPDATE SET value = excluded.value, sequence = excluded.sequence, created = \(created)
        """
    }

    /// A value or payload that is longer is refused: SQLite's own limit is not far.
    private static let longestValue = 256 << 20

    /// Drops what was remembered, for it may have been rolled back.
    mutating func forget() {
        containers.removeAll()
        components.removeAll()
    }

    /// How many entries the container has.
    mutating func position(of container: String, _ db: Database) throws -> Int64 {
        try known(container, db)?.position ?? 0
    }

    /// Writes the entry as the next one of its container.
    mutating func write(_ entry: Entry, sequence: Int64, _ db: Database) throws -> Commit {
        var container = try known(entry.container, db) ?? inserted(entry.container, db)
        container.position += 1
        containers[entry.container] = container
        try db.cachedStatement(
            sql: """
                INSERT INTO entries(sequence, container, position, time, actor)
                VALUES (?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            sequence, container.id, container.position, entry.time, entry.actor,
        ])
        try db.cachedStatement(sql: "UPDATE containers SET position = ? WHERE id = ?")
            .execute(arguments: [container.position, container.id])
        try write(entry.changes, sequence: sequence, db)
        try write(entry.purges, sequence: sequence, db)
        if let notification = entry.notification {
            try write(notification, sequence: sequence, db)
        }
        for actor in entry.actors {
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO actors(number, name) VALUES (?, ?)")
                .execute(arguments: [actor.number, Data(actor.name.utf8)])
        }
        return Commit(sequence: sequence, position: container.position)
    }

    private mutating func write(
        _ changes: [RecordChange], sequence: Int64, _ db: Database
    ) throws {
        guard !changes.isEmpty else { return }
        let put = try db.cachedStatement(sql: mayBePurged ? Self.putBesidePurges : Self.put)
        let remove = try db.cachedStatement(
            sql: "DELETE FROM records WHERE component = ? AND key = ?")
        for change in changes {
            let id = try component(change.component, of: change.container, db)
            let key = Data(change.key.utf8)
            if let value = change.value {
                try Self.check(value, "the value of \(change.key)")
                try put.execute(arguments: [id, key, Data(value), sequence])
            } else {
                try remove.execute(arguments: [id, key])
            }
        }
    }

    private mutating func write(_ purges: [Purge], sequence: Int64, _ db: Database) throws {
        mayBePurged = mayBePurged || !purges.isEmpty
        for purge in purges {
            // One of before that goes no further is a part of it.
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO purges(component, item, first, last, through)
                    VALUES (?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                component(purge.component, of: purge.container, db), Data((purge.item ?? "").utf8),
                Data(purge.prefix.utf8), purge.last, sequence - 1,
            ])
        }
    }

    private func write(
        _ notification: NotificationDraft, sequence: Int64, _ db: Database
    ) throws {
        try Self.check(notification.payload, "the payload")
        try Self.check(notification.restricted ?? [], "the restricted payload")
        try Self.check(notification.topic)
        try db.cachedStatement(
            sql: """
                INSERT INTO notifications(sequence, topic, payload, restricted)
                VALUES (?, ?, ?, ?)
                """
        ).execute(arguments: [
            sequence, notification.topic, Data(notification.payload),
            notification.restricted.map { Data($0) },
        ])
    }

    private mutating func component(
        _ name: String, of container: String, _ db: Database
    ) throws -> Int64 {
        let full = ComponentName(container: container, component: name)
        if let id = components[full] { return id }
        try Self.check(name)
        let owner = try known(container, db) ?? inserted(container, db)
        let found = try Int64.fetchOne(
            db, sql: "SELECT id FROM components WHERE container = ? AND name = ?",
            arguments: [owner.id, name])
        if let found {
            components[full] = found
            return found
        }
        try db.execute(
            sql: "INSERT INTO components(container, name) VALUES (?, ?)",
            arguments: [owner.id, name])
        components[full] = db.lastInsertedRowID
        return db.lastInsertedRowID
    }

    private mutating func known(_ container: String, _ db: Database) throws -> Container? {
        if let known = containers[container] { return known }
        let row = try Row.fetchOne(
            db, sql: "SELECT id, position FROM containers WHERE name = ?", arguments: [container])
        guard let row else { return nil }
        let found = Container(id: row[0], position: row[1])
        containers[container] = found
        return found
    }

    private mutating func inserted(_ container: String, _ db: Database) throws -> Container {
        try Self.check(container)
        try db.execute(
            sql: "INSERT INTO containers(name, position) VALUES (?, 0)", arguments: [container])
        let inserted = Container(id: db.lastInsertedRowID, position: 0)
        containers[container] = inserted
        return inserted
    }

    /// Names are bound as C strings, which would cut them at U+0000 and so make two into one.
    private static func check(_ name: String) throws {
        guard name.utf8.contains(0) else { return }
        throw UnwritableEntry(reason: "the name \(name.debugDescription) contains U+0000")
    }

    private static func check(_ bytes: [UInt8], _ what: @autoclosure () -> String) throws {
        guard bytes.count > longestValue else { return }
        throw UnwritableEntry(
            reason: "\(what()) has \(bytes.count) bytes, the limit is \(longestValue)")
    }
}

/// An entry that no file could hold.
struct UnwritableEntry: Error {
    var reason: String
}
