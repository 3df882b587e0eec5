internal import Foundation
internal import GRDB

// Purged records whose rows are not deleted yet: no read returns them.
//
// An entry that purges writes one or a few rows to the table `purges`. The records' rows are deleted later, in
// slices.

/// The conditions in SQL under which a row of `records` is purged.
enum Purged {
    /// Whether a record is purged.
    ///
    /// It reads at most four rows of `purges`, however many are pending. Ranges of keys don't overlap, except the one
    /// of all keys: only the first range that ends behind a key can cover it.
    static let condition = """
        (EXISTS(
            SELECT 1 FROM purges p
            WHERE p.component = records.component AND p.item = x'' AND p.last = x''
                AND p.first <= records.key AND p.through >= records.sequence)
        OR IFNULL(
            (SELECT p.first <= records.key AND p.through >= records.sequence FROM purges p
            WHERE p.component = records.component AND p.item = x'' AND p.last > records.key
            ORDER BY p.last LIMIT 1), 0)
        OR \(isAboutPurgedItem))
        """

    /// Whether a record is about an item that is purged.
    static let isAboutPurgedItem = """
        (EXISTS(
            SELECT 1 FROM purges p WHERE p.component = records.component AND p.item > x'')
        AND EXISTS(
            SELECT 1 FROM purges p
            WHERE p.component = records.component AND p.last = x'' AND p.item = \(item)
                AND p.through >= records.sequence))
        """

    /// The item that a record is about, according to its value; NULL if the value names none.
    private static let item = """
        CASE WHEN json_valid(CAST(records.value AS TEXT)) THEN
            CASE json_type(CAST(records.value AS TEXT), '$.item') WHEN 'text' THEN
                CAST(json_extract(CAST(records.value AS TEXT), '$.item') AS BLOB) END END
        """

    /// Whether a component may have purged records that are not deleted yet.
    static func isPending(
        _ container: String, _ component: String, _ db: Database
    ) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(SELECT 1 FROM purges WHERE component = (\(Store.componentID)))
                """, arguments: [container, component]) ?? false
    }

    /// Whether any purge is pending, also if the table's index has lost it.
    static func isPending(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM purges NOT INDEXED)") ?? false
    }
}

/// Deletes the rows of purged records, in the order of the purges, one slice at a time.
///
/// The purges of items in one component share one pass through its records. The progress of a pass is not stored: the
/// next process starts it again.
///
/// A damaged purge row deletes nothing, and neither do other purges of items in its component.
struct PurgeSweep {
    /// The maximum number of rows that one transaction examines.
    static let rows = 1_000
    /// The approximate maximum of bytes of rows that one transaction reads; a single row may have more.
    static let bytes = 8 << 20

    private struct Pass {
        var component: Int64
        /// The last purge that the pass carries out.
        var last: Int64
        var next = Data()
    }

    /// A part of a component's rows.
    private struct Part {
        var last: Data?
        /// Whether no rows follow.
        var isEnd: Bool
    }

    /// The number of rows and bytes that the current slice may still read.
    private struct Room {
        var rows = PurgeSweep.rows
        var bytes = PurgeSweep.bytes
    }

    private var pass: Pass?
    /// The ids of damaged purge rows.
    private(set) var damaged: Set<Int64> = []
    /// Components with a damaged purge of an item.
    private var blocked: Set<Int64> = []

    /// Deletes some rows, in the caller's transaction; returns whether a purge was left that could be carried out.
    mutating func deleteSlice(_ totals: inout Totals, _ db: Database) throws -> Bool {
        var room = Room()
        var found = false
        while room.rows > 0, room.bytes > 0, let purge = try next(db) {
            found = true
            let before = room.rows
            if purge.item.isEmpty {
                try deleteRange(purge, &room, &totals, db)
            } else {
                try deleteItems(of: purge.component, &room, &totals, db)
            }
            // A purge without rows counts as one row, because it costs something too.
            if room.rows == before { room.rows -= 1 }
        }
        return found
    }

    /// The first purge that can be carried out.
    private mutating func next(_ db: Database) throws -> PurgeRow? {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT \(PurgeRow.columns) FROM purges ORDER BY id"))
        while let row = try rows.next() {
            guard let purge = try sound(row, db) else { continue }
            if purge.item.isEmpty { return purge }
            guard !blocked.contains(purge.component) else { continue }
            if pass?.component == purge.component { return purge }
            // All of them together decide what the pass deletes.
            guard try areItemsSound(of: purge.component, db) else {
                blocked.insert(purge.component)
                continue
            }
            return purge
        }
        return nil
    }

    /// A purge that its index has lost could not be removed with the others of its component.
    private mutating func sound(_ row: Row, _ db: Database) throws -> PurgeRow? {
        if let purge = PurgeRow(sound: row), try purge.isFound(db) { return purge }
        damaged.insert(try row.requiredNumber(0))
        return nil
    }

    private mutating func areItemsSound(of component: Int64, _ db: Database) throws -> Bool {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(PurgeRow.columns) FROM purges NOT INDEXED WHERE component = ? AND item <> x''
                """, arguments: [component])
        while let row = try rows.next() {
            guard try sound(row, db) != nil else { return false }
        }
        return true
    }

    private func deleteRange(
        _ purge: PurgeRow, _ room: inout Room, _ totals: inout Totals, _ db: Database
    ) throws {
        let part = try part(
            of: purge.component, from: purge.first, before: purge.last, &room, db)
        if let last = part.last {
            try Self.delete(
                "component = ? AND key >= ? AND key <= ? AND sequence <= ?",
                [purge.component, purge.first, last, purge.through], of: purge.component, &totals,
                db)
        }
        if part.isEnd {
            try db.cachedStatement(sql: "DELETE FROM purges WHERE id = ?")
                .execute(arguments: [purge.id])
            totals.change(.purges, by: -1)
        } else if let last = part.last {
            var rest = purge
            rest.first = last + [0]
            try db.execute(
                sql: "UPDATE purges SET first = ?, rowsum = ? WHERE id = ?",
                arguments: [rest.first, rest.rowSum, rest.id])
        }
    }

    private mutating func deleteItems(
        of component: Int64, _ room: inout Room, _ totals: inout Totals, _ db: Database
    ) throws {
        var pass =
            if let pass, pass.component == component { pass } else {
                Pass(component: component, last: try Self.newest(of: component, db))
            }
        let part = try part(of: component, from: pass.next, before: Data(), &room, db)
        if let last = part.last {
            try Self.delete(
                "component = ? AND key >= ? AND key <= ? AND \(Purged.isAboutPurgedItem)",
                [component, pass.next, last], of: component, &totals, db)
        }
        if part.isEnd {
            try db.execute(
                sql: "DELETE FROM purges WHERE component = ? AND item > x'' AND id <= ?",
                arguments: [component, pass.last])
            totals.change(.purges, by: -Int64(db.changesCount))
            self.pass = nil
        } else if let last = part.last {
            pass.next = last + [0]
            self.pass = pass
        }
    }

    /// Deletes a component's records that match a condition.
    private static func delete(
        _ condition: String, _ arguments: StatementArguments, of component: Int64,
        _ totals: inout Totals, _ db: Database
    ) throws {
        let rows = try Int64.fetchCursor(
            db.cachedStatement(sql: "SELECT sum FROM records WHERE \(condition)"),
            arguments: arguments)
        var sums: Int64 = 0
        while let sum = try rows.next() { sums ^= sum }
        try db.cachedStatement(sql: "DELETE FROM records WHERE \(condition)")
            .execute(arguments: arguments)
        try totals.change(component, by: -Int64(db.changesCount), sums: sums, db)
    }

    private static func newest(of component: Int64, _ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db, sql: "SELECT MAX(id) FROM purges WHERE component = ? AND item > x''",
            arguments: [component]) ?? 0
    }

    /// The rows from a key up to another one (empty: to the end), as far as the slice has room.
    private func part(
        of component: Int64, from first: Data, before last: Data, _ room: inout Room,
        _ db: Database
    ) throws -> Part {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT key, length(key) + length(value) FROM records
                    WHERE component = ? AND key >= ? \(last.isEmpty ? "" : "AND key < ?")
                    ORDER BY key
                    """),
            arguments: [component, first] + (last.isEmpty ? StatementArguments() : [last]))
        var part = Part(isEnd: false)
        while room.rows > 0, room.bytes > 0 {
            guard let row = try rows.next() else {
                part.isEnd = true
                break
            }
            part.last = row[0] as Data? ?? Data()
            room.rows -= 1
            room.bytes -= row[1] as Int? ?? 0
        }
        return part
    }
}
