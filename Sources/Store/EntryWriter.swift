internal import Foundation
internal import GRDB

/// Writes entries and their changes in transactions on the writer's connection.
///
/// An entry is appended as one row. Its changes wait in the ``tail``; ``makeChanges(atMost:_:)`` writes them to the
/// records in a later transaction. An entry with many or large changes, or with purges, has them written at once:
/// storing them in its row first would only write them twice.
///
/// It caches ids and positions between transactions.
struct EntryWriter {
    private struct Container {
        var id: Int64
        var position: Int64
        /// The damage of its row: the difference of the row's sum when it was read, which later sums keep.
        var damage: Int64 = 0
    }

    /// Values by name.
    ///
    /// The value that was used last is found without hashing, since most entries of a group are of one container.
    private struct Known<Name: Hashable, Value> {
        /// All but the last one.
        private var others: [Name: Value] = [:]
        private var last: (name: Name, value: Value)?

        mutating func value(of name: Name) -> Value? {
            if let last, last.name == name { return last.value }
            guard let value = others[name] else { return nil }
            set(value, for: name)
            return value
        }

        mutating func set(_ value: Value, for name: Name) {
            if let last, last.name != name {
                others[last.name] = last.value
                others[name] = nil
            }
            last = (name, value)
        }

        mutating func removeAll() { self = Known() }
    }

    private struct ComponentName: Hashable {
        var container: String
        var component: String
    }

    /// The tail as readers see it.
    let late: LateRecords
    private(set) var tail: Tail
    var totals = Totals()
    private var statements: EntryStatements?
    private var containers = Known<String, Container>()
    private var components = Known<ComponentName, (id: Int64, sum: ComponentSum)>()
    /// The component whose record was new last, until one of its records is not.
    private var lastNew: Int64?
    /// Whether purged records may still have rows: a record that replaces one is new.
    var mayBePurged = true

    /// The most bytes of changes that may wait in an entry's row.
    private static let mostLateBytes = 16 << 10

    /// Creates a writer that has written nothing yet.
    ///
    /// - Parameters:
    ///   - tail: entries whose changes an earlier process has not written to the records.
    ///   - applied: the last entry before them.
    init(tail: Tail, applied: Int64) {
        self.tail = tail
        late = LateRecords(tail, applied: applied)
    }

    // MARK: Transactions

    /// Runs a transaction; an error rolls it back.
    mutating func transact(
        _ db: Database, _ body: (inout EntryWriter) throws -> Bool
    ) throws {
        let statements = try statements ?? EntryStatements(db)
        self.statements = statements
        try statements.begin.run()
        do {
            guard try body(&self) else {
                try statements.rollback.run()
                forget()
                return
            }
            try totals.save(db)
            try statements.commit.run()
        } catch {
            // After some errors SQLite has already rolled back.
            if db.isInsideTransaction { try? statements.rollback.run() }
            forget()
            throw error
        }
        late.update(with: tail)
        tail.commit()
    }

    /// Drops the caches after a rollback.
    private mutating func forget() {
        tail.rollBack()
        totals.forget()
        containers.removeAll()
        components.removeAll()
    }

    /// Releases the statements; called before the connection is closed.
    mutating func end() { statements = nil }

    // MARK: Entries

    /// The number of entries of the container.
    mutating func position(of container: String, _ db: Database) throws -> Int64 {
        try known(container, db)?.position ?? 0
    }

    /// Writes the entry as the next one of its container.
    mutating func write(_ entry: Entry, sequence: Int64, _ db: Database) throws -> Commit {
        if let notification = entry.notification { try Self.check(notification.topic) }
        let size = entry.changes.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.count ?? 0) }
        let isLate =
            entry.purges.isEmpty && entry.changes.count <= Tail.most && size <= Self.mostLateBytes
        if !isLate { try makeChanges(atMost: .max, db) }
        var container = try known(entry.container, db) ?? inserted(entry.container, db)
        container.position += 1
        containers.set(container, for: entry.container)
        var known: RecordChange?
        for change in entry.changes where !change.isBeside(known) {
            _ = try component(change.component, of: change.container, db)
            known = change
        }
        let commit = Commit(sequence: sequence, position: container.position)
        let late = isLate ? entry.changes : []
        let sum = try append(entry, late: late, commit, container.id)
        try write(entry.purges, sequence: sequence, db)
        if !isLate { try make(entry.changes, sequence: sequence, db) }
        tail.add(
            Tail.Waiting(
                sequence: sequence, container: entry.container, position: commit.position,
                changes: late, sum: sum))
        for actor in entry.actors {
            try write(actor, db)
        }
        return commit
    }

    private mutating func write(_ actor: Actor, _ db: Database) throws {
        let name = Data(actor.name.utf8)
        try db.cachedStatement(
            sql: "INSERT OR IGNORE INTO actors(number, name, rowsum) VALUES (?, ?, ?)"
        ).execute(arguments: [
            actor.number, name, RowSum.actor(number: actor.number, name: name),
        ])
        totals.change(.actors, by: Int64(db.changesCount))
    }

    /// Appends an entry's row, and returns the sum of the row without the changes.
    private func append(
        _ entry: Entry, late: [RecordChange], _ commit: Commit, _ container: Int64
    ) throws -> Int64 {
        guard let insert = statements?.appendEntry else { throw EntryStatements.missing }
        let notification = entry.notification
        let stays = EntrySum.of(
            container: entry.container, sequence: commit.sequence, position: commit.position,
            time: entry.time, actor: entry.actor, topic: notification?.topic,
            payload: notification?.payload, restricted: notification?.restricted)
        var sum = stays
        let changes = late.isEmpty ? nil : ChangesCode.encode(late)
        if let changes { sum ^= EntrySum.ofChanges(changes, sequence: commit.sequence) }
        insert.bind(commit.sequence, at: 1)
        insert.bind(container, at: 2)
        insert.bind(commit.position, at: 3)
        insert.bind(entry.time, at: 4)
        insert.bind(entry.actor, at: 5)
        insert.bind(notification?.topic, at: 6)
        insert.bind(notification?.payload, at: 7)
        insert.bind(notification?.restricted, at: 8)
        insert.bind(changes, at: 9)
        insert.bind(sum, at: 10)
        try insert.run()
        return stays
    }

    private mutating func write(_ purges: [Purge], sequence: Int64, _ db: Database) throws {
        mayBePurged = mayBePurged || !purges.isEmpty
        for purge in purges {
            let component = try component(purge.component, of: purge.container, db).id
            try PurgeRow(
                id: nextID(in: .purges, db), component: component,
                item: Data((purge.item ?? "").utf8), first: Data(purge.prefix.utf8),
                last: purge.last, through: sequence - 1
            ).write(&totals, db)
        }
    }

    // MARK: Records

    /// Writes waiting changes to the records, in whole entries, oldest first.
    ///
    /// It writes at most `most` changes, unless the first entry alone has more.
    mutating func makeChanges(atMost most: Int, _ db: Database) throws {
        guard let statements else { throw EntryStatements.missing }
        var count = 0
        var last: Tail.Waiting?
        // The positions of containers but for that of the last entry.
        var positions: [String: Int64] = [:]
        while let entry = tail.next, count == 0 || count + entry.changes.count <= most {
            try make(entry.changes, sequence: entry.sequence, db)
            if !entry.changes.isEmpty {
                statements.redactEntry.bind(entry.sum, at: 1)
                statements.redactEntry.bind(entry.sequence, at: 2)
                try statements.redactEntry.run()
            }
            if let last, last.container != entry.container {
                positions[last.container] = last.position
            }
            count += entry.changes.count
            last = entry
            tail.markNextWritten()
        }
        guard let last else { return }
        positions[last.container] = last.position
        for (name, position) in positions {
            guard let container = try known(name, db) else { continue }
            let sum = RowSum.container(id: container.id, name: name, position: position)
            statements.setPosition.bind(position, at: 1)
            statements.setPosition.bind(sum ^ container.damage, at: 2)
            statements.setPosition.bind(container.id, at: 3)
            try statements.setPosition.run()
        }
        try Meta.applied.change(db) { _ in last.sequence }
    }

    private mutating func make(
        _ changes: [RecordChange], sequence: Int64, _ db: Database
    ) throws {
        var known: RecordChange?
        var place: (id: Int64, sum: ComponentSum)?
        for change in changes {
            if !change.isBeside(known) {
                place = try component(change.component, of: change.container, db)
                known = change
            }
            guard let place else { continue }
            // An import's records and comments are mostly new, a vote that is changed is not: what was so last of the
            // component comes first.
            if lastNew == place.id, let value = change.value,
                try insert(change.key, value, in: place, sequence: sequence, db)
            {
                continue
            }
            if try make(change, in: place, sequence: sequence, db) {
                lastNew = place.id
            } else if lastNew == place.id {
                lastNew = nil
            }
        }
    }

    /// Inserts a record if there is none with its key; returns whether there was none.
    private mutating func insert(
        _ key: String, _ value: [UInt8], in component: (id: Int64, sum: ComponentSum),
        sequence: Int64, _ db: Database
    ) throws -> Bool {
        guard let statements else { throw EntryStatements.missing }
        let sum = component.sum.record(
            key: key, value: value, sequence: sequence, created: sequence)
        let put = statements.insertNew
        put.bind(component.id, at: 1)
        put.bind(bytesOf: key, at: 2)
        put.bind(value, at: 3)
        put.bind(sequence, at: 4)
        put.bind(sequence, at: 5)
        put.bind(sum, at: 6)
        try put.run()
        guard db.changesCount > 0 else { return false }
        try totals.change(component.id, by: 1, sums: sum, db)
        return true
    }

    /// Applies a change to its record; returns whether there was no record with its key.
    private mutating func make(
        _ change: RecordChange, in place: (id: Int64, sum: ComponentSum), sequence: Int64,
        _ db: Database
    ) throws -> Bool {
        guard let statements else { throw EntryStatements.missing }
        let (component, sums) = place
        let find = mayBePurged ? statements.findBesidePurges : statements.find
        find.bind(component, at: 1)
        find.bind(bytesOf: change.key, at: 2)
        var old: (created: Int64, sum: Int64)?
        if try find.step() {
            // A purged record is replaced by a new one.
            old = (find.number(2) != 0 ? sequence : find.number(0), find.number(1))
            find.reset()
        }
        guard let value = change.value else {
            guard let old else { return false }
            statements.remove.bind(component, at: 1)
            statements.remove.bind(bytesOf: change.key, at: 2)
            try statements.remove.run()
            try totals.change(component, by: -1, sums: old.sum, db)
            return false
        }
        let created = old?.created ?? sequence
        let sum = sums.record(key: change.key, value: value, sequence: sequence, created: created)
        let put = old == nil ? statements.insert : statements.update
        put.bind(component, at: 1)
        put.bind(bytesOf: change.key, at: 2)
        put.bind(value, at: 3)
        put.bind(sequence, at: 4)
        put.bind(created, at: 5)
        put.bind(sum, at: 6)
        try put.run()
        try totals.change(component, by: old == nil ? 1 : 0, sums: sum ^ (old?.sum ?? 0), db)
        return old == nil
    }

    // MARK: Names

    private mutating func component(
        _ name: String, of container: String, _ db: Database
    ) throws -> (id: Int64, sum: ComponentSum) {
        let full = ComponentName(container: container, component: name)
        if let known = components.value(of: full) { return known }
        try Self.check(name)
        let owner = try known(container, db) ?? inserted(container, db)
        var id = try Int64.fetchOne(
            db, sql: "SELECT id FROM components WHERE container = ? AND name = ?",
            arguments: [owner.id, name])
        if id == nil {
            try checkIsNew(
                "components NOT INDEXED WHERE container = ? AND name = ?", [owner.id, name], db)
            let new = try nextID(in: .components, db)
            let sum = RowSum.component(
                id: new, container: owner.id, name: name, records: 0, sums: 0)
            try db.execute(
                sql: "INSERT INTO components(id, container, name, rowsum) VALUES (?, ?, ?, ?)",
                arguments: [new, owner.id, name, sum])
            totals.change(.components, by: 1)
            id = new
        }
        let found = (id ?? 0, ComponentSum(container: container, component: name))
        components.set(found, for: full)
        return found
    }

    private mutating func known(_ container: String, _ db: Database) throws -> Container? {
        if let known = containers.value(of: container) { return known }
        let row = try Row.fetchOne(
            db, sql: "SELECT id, position, rowsum FROM containers WHERE name = ?",
            arguments: [container])
        guard let row else { return nil }
        let (id, made) = (try row.requiredNumber(0), try row.requiredNumber(1))
        let sum = RowSum.container(id: id, name: container, position: made)
        // The file's position is that of the last entry whose changes are written.
        let position = max(made, tail.position(of: container) ?? 0)
        guard position.isPossible else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT,
                message: "row \(id) of the table containers has the position \(position)")
        }
        let found = Container(
            id: id, position: position, damage: sum ^ (try row.requiredNumber(2)))
        containers.set(found, for: container)
        return found
    }

    private mutating func inserted(_ container: String, _ db: Database) throws -> Container {
        try Self.check(container)
        try checkIsNew("containers NOT INDEXED WHERE name = ?", [container], db)
        let id = try nextID(in: .containers, db)
        try db.execute(
            sql: "INSERT INTO containers(id, name, position, rowsum) VALUES (?, ?, 0, ?)",
            arguments: [id, container, RowSum.container(id: id, name: container, position: 0)])
        totals.change(.containers, by: 1)
        let inserted = Container(id: id, position: 0)
        containers.set(inserted, for: container)
        return inserted
    }

    /// Searches all rows for a name: if the table's index lost it, inserting would create a second one.
    private func checkIsNew(_ rows: String, _ arguments: StatementArguments, _ db: Database) throws
    {
        guard
            let id = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM \(rows)"), arguments: arguments)
        else { return }
        let table = rows.prefix { $0 != " " }
        throw DatabaseError(
            resultCode: .SQLITE_CORRUPT,
            message: "row \(id) of the table \(table) is not in the table's index")
    }

    /// The id that SQLite would give a new row; the row's sum includes it.
    private func nextID(in table: Meta, _ db: Database) throws -> Int64 {
        let query = try db.cachedStatement(sql: "SELECT MAX(id) FROM \(table.rawValue)")
        let last = try Int64.fetchOne(query) ?? 0
        guard last < .max else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "\(table.rawValue) has a row \(last)")
        }
        return last + 1
    }

    // MARK: What can't be written

    /// Names and topics are read as C strings, which end at U+0000: two different names could become one.
    private static func check(_ name: String) throws {
        var text = name
        guard text.withUTF8({ $0.contains(0) }) else { return }
        throw UnwritableEntry(reason: "the name \(name.debugDescription) contains U+0000")
    }
}

extension RecordChange {
    /// Whether another change is of the same component.
    fileprivate func isBeside(_ other: RecordChange?) -> Bool {
        component == other?.component && container == other?.container
    }
}

/// An entry that can't be stored in any file.
struct UnwritableEntry: Error {
    var reason: String
}

/// The statements that write a group of entries, prepared once for the writer's connection.
final class EntryStatements {
    let begin: PreparedStatement
    let commit: PreparedStatement
    let rollback: PreparedStatement
    let appendEntry: PreparedStatement
    /// Removes the changes from an entry's row.
    let redactEntry: PreparedStatement
    let setPosition: PreparedStatement
    /// Selects a record's creation and sum, and 0.
    let find: PreparedStatement
    /// Selects the same, and whether the record is purged.
    let findBesidePurges: PreparedStatement
    let insert: PreparedStatement
    /// Inserts a record; does nothing if there is one with its key.
    let insertNew: PreparedStatement
    let update: PreparedStatement
    let remove: PreparedStatement

    init(_ db: Database) throws {
        begin = try PreparedStatement("BEGIN IMMEDIATE", db)
        commit = try PreparedStatement("COMMIT", db)
        rollback = try PreparedStatement("ROLLBACK", db)
        appendEntry = try PreparedStatement(
            """
            INSERT INTO entries(
                sequence, container, position, time, actor, topic, public, restricted, changes, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """, db)
        redactEntry = try PreparedStatement(
            "UPDATE entries SET changes = NULL, sum = ?1 WHERE sequence = ?2", db)
        setPosition = try PreparedStatement(
            "UPDATE containers SET position = ?1, rowsum = ?2 WHERE id = ?3", db)
        find = try PreparedStatement(
            "SELECT created, sum, 0 FROM records WHERE component = ?1 AND key = ?2", db)
        findBesidePurges = try PreparedStatement(
            """
            SELECT created, sum, \(Purged.condition) FROM records
            WHERE component = ?1 AND key = ?2
            """, db)
        insert = try PreparedStatement(
            """
            INSERT INTO records(component, key, value, sequence, created, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, db)
        insertNew = try PreparedStatement(
            """
            INSERT OR IGNORE INTO records(component, key, value, sequence, created, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, db)
        update = try PreparedStatement(
            """
            UPDATE records SET value = ?3, sequence = ?4, created = ?5, sum = ?6
            WHERE component = ?1 AND key = ?2
            """, db)
        remove = try PreparedStatement("DELETE FROM records WHERE component = ?1 AND key = ?2", db)
    }

    /// The error for a statement used outside of a transaction.
    static var missing: DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "no transaction was begun")
    }
}
