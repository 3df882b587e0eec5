internal import Foundation
internal import GRDB

// What was purged and is not deleted yet: no read shows it.
//
// An entry that purges names what goes in a row or a few of the table `purges`. The rows of the
// records follow in slices.

/// Which records are purged, as conditions in SQL on a row of `records`.
enum Purged {
    /// Whether a record is purged.
    ///
    /// However many purges are pending, four of their rows are looked at.
    /// Ranges of keys don't overlap, but for the one of all keys: the first that ends behind a key is
    /// the only one that may cover it.
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

    /// Whether a record is about an item of which all is purged.
    static let isAboutPurgedItem = """
        (EXISTS(
            SELECT 1 FROM purges p WHERE p.component = records.component AND p.item > x'')
        AND EXISTS(
            SELECT 1 FROM purges p
            WHERE p.component = records.component AND p.last = x'' AND p.item = \(item)
                AND p.through >= records.sequence))
        """

    /// What a record is about, where its value tells; else NULL.
    private static let item = """
        CASE WHEN json_valid(CAST(records.value AS TEXT)) THEN
            CASE json_type(CAST(records.value AS TEXT), '$.item') WHEN 'text' THEN
                CAST(json_extract(CAST(records.value AS TEXT), '$.item') AS BLOB) END END
        """

    /// Whether some of a component's records may be purged and not deleted yet.
    static func isPending(
        _ container: String, _ component: String, _ db: Database
    ) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(SELECT 1 FROM purges WHERE component = (\(Store.componentID)))
                """, arguments: [container, component]) ?? false
    }

    /// Whether anything at all is purged and not deleted yet, also where the table's index has lost it.
    static func isPending(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM purges NOT INDEXED)") ?? false
    }
}

/// Deletes the rows of what was purged, in the order of the purges, a slice at a time.
///
/// Of purges of items those of one component are looked for in one pass through its records. How far
/// it came is known to this process alone: the next one begins it anew.
///
/// A purge whose row is not what was written deletes nothing, and neither do those of items beside it.
struct PurgeSweep {
    /// How many rows one transaction looks at, at most.
    static let rows = 1_000
    /// About how many bytes of rows one transaction looks at, at most; a single row may have more.
    static let bytes = 8 << 20

    private struct Pass {
        var component: Int64
        /// The last of the purges that it is for.
        var last: Int64
        var next = Data()
    }

    /// A part of a component's rows.
    private struct Part {
        var last: Data?
        /// Whether there are no others behind it.
        var isEnd: Bool
    }

    /// How much the present slice may look at.
    private struct Room {
        var rows = PurgeSweep.rows
        var bytes = PurgeSweep.bytes
    }

    private var pass: Pass?
    /// The numbers of purges that are not what was written.
    private(set) var damaged: Set<Int64> = []
    /// Components of which that is so of a purge of an item.
    private var blocked: Set<Int64> = []

    /// Deletes some rows, in the transaction that its caller began.
    ///
    /// - Returns: whether there was a purge left that could be made.
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
            // One without any rows costs something, too.
            if room.rows == before { room.rows -= 1 }
        }
        return found
    }

    /// The first purge that can be made.
    private mutating func next(_ db: Database) throws -> PurgeRow? {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT \(PurgeRow.columns) FROM purges ORDER BY id"))
        while let row = try rows.next() {
            guard let purge = try sound(row, db) else { continue }
            if purge.item.isEmpty { return purge }
            guard !blocked.contains(purge.component) else { continue }
            if pass?.component == purge.component { return purge }
            // All of them say what is deleted in one pass.
            guard try areItemsSound(of: purge.component, db) else {
                blocked.insert(purge.component)
                continue
            }
            return purge
        }
        return nil
    }

    /// One that its index has lost could not be deleted with the others of its component.
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

    /// Deletes a component's records for which something holds.
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

    /// The rows from a key on, before another one (empty: to the end), for which there is room.
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
