internal import Foundation
internal import GRDB

/// Copies a file of an older format into a new one, which replaces it once it is complete.
///
/// The old file is kept beside the new one, named after its format, and is never written to.
struct Migration {
    private let old: String
    private let new: String
    private let kept: String

    /// Creates the migration of a file of some format, which is closed and has no log.
    init(of file: String, from version: String) {
        old = file
        new = "\(file).new"
        kept = "\(file).\(version)"
    }

    /// Migrates the file; after an error it is unchanged.
    func run() throws {
        // Remove what an interrupted migration left.
        removeCopy()
        try checkRoom()
        do {
            try copy()
        } catch {
            removeCopy()
            throw error
        }
        try replace()
    }

    private func removeCopy() {
        for suffix in ["", "-wal", "-shm"] { unlink(new + suffix) }
    }

    private func copy() throws {
        let target = try Opening.make(new, identity: identity())
        try target.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS old", arguments: [old])
            try db.inTransaction {
                try copyRows(db)
                return .commit
            }
            try check(db)
            try db.execute(sql: "DETACH old")
            _ = try db.checkpoint(.truncate)
        }
        try target.close()
    }

    private func identity() throws -> String {
        let identity = try DatabaseQueue(path: old).read { db in
            try String.fetchOne(db, sql: "SELECT value FROM meta WHERE name = 'identity'")
        }
        guard let identity, UUID(uuidString: identity) != nil else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file has no identity")
        }
        return identity
    }

    private func checkRoom() throws {
        let size = try ["", "-wal"].reduce(0) { sum, suffix in
            var info = stat()
            if stat(old + suffix, &info) == 0 { return sum + Int(info.st_size) }
            if errno == ENOENT { return sum }
            throw StoreError(errno: errno, file: old + suffix)
        }
        var room = statvfs()
        guard statvfs(old, &room) == 0 else { throw StoreError(errno: errno, file: old) }
        // Room for the copy, and for its log until the log is transferred to it.
        let needed = 2 * size + 1 << 20
        let free = Int(room.f_bavail) * Int(room.f_frsize)
        guard free < needed else { return }
        throw StoreError.full(
            file: new,
            reason:
                "a copy of \(old) in today's format needs \(needed) bytes there, \(free) are free")
    }

    private func copyRows(_ db: Database) throws {
        var totals = Totals()
        try copyNames(&totals, db)
        try copyPurges(&totals, db)
        try copyEntries(db)
        try copyRecords(&totals, db)
        try totals.save(db)
        let trimmed = try Int64.fetchOne(
            db, sql: "SELECT value FROM old.meta WHERE name = 'trimmed'")
        try Meta.trimmed.change(db) { _ in trimmed ?? 0 }
        let last = try Int64.fetchOne(db, sql: "SELECT MAX(sequence) FROM old.entries")
        try Meta.applied.change(db) { _ in last ?? 0 }
    }

    private func copyNames(_ totals: inout Totals, _ db: Database) throws {
        for row in try Row.fetchAll(db, sql: "SELECT id, name, position FROM old.containers") {
            let (id, name) = (try row.requiredNumber(0), try row.requiredString(1))
            let position = try row.requiredNumber(2)
            let sum = RowSum.container(id: id, name: name, position: position)
            try db.cachedStatement(
                sql: "INSERT INTO containers(id, name, position, rowsum) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [id, name, position, sum])
            totals.change(.containers, by: 1)
        }
        for row in try Row.fetchAll(db, sql: "SELECT id, container, name FROM old.components") {
            let (id, container) = (try row.requiredNumber(0), try row.requiredNumber(1))
            let name = try row.requiredString(2)
            let sum = RowSum.component(
                id: id, container: container, name: name, records: 0, sums: 0)
            try db.cachedStatement(
                sql: "INSERT INTO components(id, container, name, rowsum) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [id, container, name, sum])
            totals.change(.components, by: 1)
        }
        let actors = try Row.fetchCursor(db, sql: "SELECT number, name FROM old.actors")
        while let row = try actors.next() {
            let (number, name) = (try row.requiredNumber(0), try row.requiredBlob(1))
            try db.cachedStatement(sql: "INSERT INTO actors(number, name, rowsum) VALUES (?, ?, ?)")
                .execute(arguments: [number, name, RowSum.actor(number: number, name: name)])
            totals.change(.actors, by: 1)
        }
    }

    private func copyPurges(_ totals: inout Totals, _ db: Database) throws {
        guard try db.tableExists("purges", in: "old") else { return }
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, component, item, first, last, through FROM old.purges ORDER BY id")
        for row in rows {
            try PurgeRow(
                id: row.requiredNumber(0), component: row.requiredNumber(1),
                item: row.requiredBlob(2), first: row.requiredBlob(3), last: row.requiredBlob(4),
                through: row.requiredNumber(5)
            ).write(&totals, db)
        }
    }

    private func copyEntries(_ db: Database) throws {
        let insert = try PreparedStatement(
            """
            INSERT INTO entries(
                sequence, container, position, time, actor, topic, public, restricted, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """, db)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT e.sequence, e.container, e.position, e.time, e.actor, n.topic, n.payload,
                    n.restricted, c.name
                FROM old.entries e JOIN old.containers c ON c.id = e.container
                LEFT JOIN old.notifications n ON n.sequence = e.sequence ORDER BY e.sequence
                """)
        while let row = try rows.next() {
            try copyEntry(row, insert)
        }
    }

    private func copyEntry(_ row: Row, _ insert: PreparedStatement) throws {
        let (sequence, container) = (try row.requiredNumber(0), try row.requiredNumber(1))
        let (position, time) = (try row.requiredNumber(2), try row.requiredNumber(3))
        let actor = try row.optional(4, row.requiredNumber)
        let topic = try row.optional(5, row.requiredString)
        let payload = try row.optional(6, row.requiredBlob).map { [UInt8]($0) }
        let restricted = try row.optional(7, row.requiredBlob).map { [UInt8]($0) }
        let sum = EntrySum.of(
            container: try row.requiredString(8), sequence: sequence, position: position,
            time: time, actor: actor, topic: topic, payload: payload, restricted: restricted)
        insert.bind(sequence, at: 1)
        insert.bind(container, at: 2)
        insert.bind(position, at: 3)
        insert.bind(time, at: 4)
        insert.bind(actor, at: 5)
        insert.bind(topic, at: 6)
        insert.bind(payload, at: 7)
        insert.bind(restricted, at: 8)
        insert.bind(sum, at: 9)
        try insert.run()
    }

    private func copyRecords(_ totals: inout Totals, _ db: Database) throws {
        let insert = try PreparedStatement(
            """
            INSERT INTO records(component, key, value, sequence, created, sum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, db)
        let components = try Row.fetchAll(
            db,
            sql: """
                SELECT c.id, o.name, c.name FROM old.components c
                JOIN old.containers o ON o.id = c.container ORDER BY c.id
                """)
        for component in components {
            let id = try component.requiredNumber(0)
            let sums = ComponentSum(
                container: try component.requiredString(1),
                component: try component.requiredString(2))
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT key, value, sequence, created FROM old.records
                    WHERE component = ? ORDER BY key
                    """, arguments: [id])
            while let row = try rows.next() {
                let (key, value) = (try row.requiredBlob(0), try row.requiredBlob(1))
                let (sequence, created) = (try row.requiredNumber(2), try row.requiredNumber(3))
                let sum = key.withUnsafeBytes { key in
                    value.withUnsafeBytes {
                        sums.record(key: key, value: $0, sequence: sequence, created: created)
                    }
                }
                insert.bind(id, at: 1)
                key.withUnsafeBytes { insert.bind($0, at: 2) }
                value.withUnsafeBytes { insert.bind($0, at: 3) }
                insert.bind(sequence, at: 4)
                insert.bind(created, at: 5)
                insert.bind(sum, at: 6)
                try insert.run()
                try totals.change(id, by: 1, sums: sum, db)
            }
        }
    }

    /// Checks that every row was copied.
    private func check(_ db: Database) throws {
        for table in ["containers", "components", "entries", "records", "actors"] {
            let counts = try ["old", "main"].map {
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \($0).\(table)")
            }
            guard counts[0] != counts[1] else { continue }
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT,
                message:
                    "of the rows of \(table) \(counts[1] ?? 0) of \(counts[0] ?? 0) were copied")
        }
        if let problem = try TableCheck.problems(db).first {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: problem)
        }
        let found = try String.fetchAll(db, sql: "PRAGMA main.quick_check(1)")
        guard found == ["ok"] else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: found.first ?? "the copy can't be checked")
        }
    }

    /// Replaces the old file with the new one; at any moment one of them exists under the name.
    private func replace() throws(StoreError) {
        for suffix in ["-wal", "-shm"] { unlink(old + suffix) }
        // An older file of the same format that was kept before stays.
        let names = [kept] + (2...99).map { "\(kept)-\($0)" }
        guard let kept = names.first(where: { isFile(old, $0) || link(old, $0) == 0 }) else {
            throw StoreError(errno: errno, file: kept)
        }
        guard rename(new, old) == 0 else { throw StoreError(errno: errno, file: old) }
        let directory = open(
            String(old[..<(old.lastIndex(of: "/") ?? old.startIndex)]), O_RDONLY | O_DIRECTORY)
        guard directory >= 0 else { throw StoreError(errno: errno, file: old) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw StoreError(errno: errno, file: kept) }
    }

    /// Whether two names refer to the same file.
    private func isFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}
