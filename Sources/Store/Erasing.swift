internal import Foundation
internal import GRDB

// Removes a person's data from the store's files.
extension Store {
    /// The number of entries that one transaction redacts.
    private static let redactedAtATime = 1_000
    /// The most frames of a log that was just restarted.
    private static let mostFrames = 100
    /// The number of tries to empty the log while readers use it; a try takes 20 ms.
    private static let tries = 1_500

    /// Erases a person.
    ///
    /// When it returns, no file of the store contains the name, nor anything that was deleted or replaced before the
    /// call.
    ///
    /// The person's number remains, without a name. Entries are redacted in slices, between which other entries are
    /// written. Then the whole file is rewritten, while appended entries wait. The rewrite is needed because deleting
    /// from a tree in key order leaves copies in its pages.
    ///
    /// It temporarily needs as much free disk space as the file has, and takes as long as writing it: call it away
    /// from the event loop. It may be repeated, and an unknown number is not an error.
    ///
    /// - Parameters:
    ///   - actor: the person.
    ///   - notifications: the sequences of the notifications to remove, in ascending order. The person's other
    ///     notifications stay, without actor and restricted part. Damaged entries without a topic are removed too,
    ///     because their actor is unknown.
    /// - Throws: `StoreError`, also if a reader keeps using an older snapshot; `.corrupt` if it is unknown what was
    ///   purged: it may still be in the file, and a retry would not find it.
    public func erase(_ actor: Int64, notifications: [Int64]) throws(StoreError) {
        // Fewer notifications are kept now.
        defer { writer.trimming.recount(in: writer) }
        do {
            try redact(actor, notifications)
            // Purged rows are deleted too, before the pages are rewritten.
            writer.deletion.wait(for: writer)
            if let reason = try pool.read(hindrance) {
                throw reason
            }
            try writeAnew()
        } catch let error as StoreError {
            throw error
        } catch {
            throw failure(error, "erasing a person in")
        }
    }

    /// Files and folders beside the store's with earlier copies of its data, from an upgrade, a restore or damage.
    public var copies: [String] {
        let path = URL(filePath: file)
        let (folder, own) = (path.deletingLastPathComponent(), path.lastPathComponent)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter {
            $0.hasPrefix(own) && !["", "-wal", "-shm"].contains($0.dropFirst(own.count))
                || $0.hasPrefix(StateFolder.keptPrefix)
        }
        .sorted().map { folder.appending(path: $0).path }
    }

    /// Redacts the newest entries first.
    ///
    /// The oldest notifications show which comments were the person's, so a repeated erasure needs them.
    private func redact(_ actor: Int64, _ notifications: [Int64]) throws {
        try writer.condition.checkSound()
        // Only the writer knows the sums of entries whose changes are waiting.
        try writer.finishTail()
        let (own, stray) = try pool.read { db in
            (
                try Int64.fetchAll(
                    db, sql: "SELECT sequence FROM entries WHERE actor = ?", arguments: [actor]),
                try Int64.fetchAll(db, sql: Self.strayEntries)
            )
        }
        let gone = Set(notifications).union(stray)
        var rest = gone.union(own).sorted()[...]
        while !rest.isEmpty {
            let part = rest.suffix(Self.redactedAtATime)
            rest = rest.dropLast(part.count)
            try writer.condition.checkSound()
            try pool.write { db in
                for sequence in part {
                    try Self.redact(sequence, isGone: gone.contains(sequence), db)
                }
            }
        }
        try pool.write { db in
            try db.execute(
                sql: "UPDATE actors SET name = x'', rowsum = ? WHERE number = ?",
                arguments: [RowSum.actor(number: actor, name: Data()), actor])
        }
    }

    /// Damaged entries whose person is unknown: they have payloads without a notification, or changes that were never
    /// written.
    private static let strayEntries = """
        SELECT sequence FROM entries
        WHERE topic IS NULL AND (public IS NOT NULL OR restricted IS NOT NULL)
            OR changes IS NOT NULL
                AND sequence <= (SELECT value FROM meta WHERE name = 'applied')
        """

    /// Why the person may still be in the file, or purged rows are; nil: all are deleted.
    ///
    /// A damaged or lost row of a small table may be the person's name, or say where their records are. A lost purge
    /// was never carried out.
    private func hindrance(_ db: Database) throws -> StoreError? {
        if let damage = try TableCheck.problems(db).first(where: { !$0.contains("table meta") }) {
            return .corrupt(file: file, reason: damage)
        }
        if let component = try Int64.fetchOne(db, sql: Self.unknownComponents) {
            return .corrupt(
                file: file,
                reason: "it has records of a component \(component), which it does not know")
        }
        guard try Purged.isPending(db) else { return nil }
        return .failed(
            file: file, operation: "erasing a person in",
            reason: "purged records could not be deleted yet")
    }

    /// Selects the numbers of components that have records and no row, one step for each component.
    private static let unknownComponents = """
        WITH RECURSIVE found(id) AS (
            SELECT MIN(component) FROM records
            UNION ALL
            SELECT (SELECT MIN(component) FROM records WHERE component > found.id) FROM found
            WHERE found.id IS NOT NULL)
        SELECT id FROM found WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM components)
        """

    private static func redact(_ sequence: Int64, isGone: Bool, _ db: Database) throws {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT c.name, e.position, e.time, e.actor, e.topic, e.public, e.restricted, e.sum
                    FROM entries e LEFT JOIN containers c ON c.id = e.container WHERE e.sequence = ?
                    """), arguments: [sequence])
        guard let row else { return }
        func sum(_ actor: Int64?, _ topic: String?, _ payload: Data?, _ restricted: Data?) -> Int64
        {
            EntrySum.of(
                container: row.text(0) ?? "", sequence: sequence, position: row.number(1) ?? 0,
                time: row.number(2) ?? 0, actor: actor,
                topic: topic, payload: payload.map { [UInt8]($0) },
                restricted: restricted.map { [UInt8]($0) })
        }
        let stored = try row.requiredNumber(7)
        let isDamaged = sum(row.number(3), row.text(4), row.data(5), row.data(6)) != stored
        // A damaged notification keeps its topic: subscribers still get a gap in its place.
        let (topic, payload): (String?, Data?) =
            if !isGone {
                (row.text(4), row.data(5))
            } else if isDamaged, let topic = row.text(4) {
                (topic, Data("{}".utf8))
            } else {
                (nil, nil)
            }
        // The sum changes by the difference only, so existing damage is still detected.
        let change =
            sum(row.number(3), row.text(4), row.data(5), row.data(6))
            ^ sum(nil, topic, payload, nil)
        try db.cachedStatement(
            sql: """
                UPDATE entries SET actor = NULL, topic = ?, public = ?, restricted = NULL, sum = ?,
                    changes = CASE WHEN sequence > (SELECT value FROM meta WHERE name = 'applied')
                        THEN changes END
                WHERE sequence = ?
                """
        ).execute(arguments: [topic, payload, stored ^ change, sequence])
    }

    /// Rewrites every page of the file, and removes old frames from the log.
    private func writeAnew() throws {
        try emptyLog { db in
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: "VACUUM")
        }
        // Now the file contains only current data.
        try emptyLog { _ in }
    }

    /// Empties the log once no reader uses an older snapshot, then runs the body.
    private func emptyLog(then body: (Database) throws -> Void) throws {
        for _ in 0..<Self.tries {
            let isEmpty = try pool.writeWithoutTransaction { db in
                var isDone = false
                // Copying may fail half-way.
                defer { if !isDone { writer.condition.forgetContent() } }
                // No erasure in files that another store has replaced.
                writer.condition.findChangedFile(db)
                try writer.condition.checkSound()
                guard try Self.checkpoint("RESTART", db).isDone else { return false }
                // Restarts the log: nothing that follows its new frames is needed.
                try db.inTransaction(.immediate) {
                    try db.execute(sql: "INSERT OR REPLACE INTO probe VALUES (1, x'00')")
                    try db.execute(sql: "DELETE FROM probe")
                    return .commit
                }
                let (isCopied, frames) = try Self.checkpoint("PASSIVE", db)
                // Where another program copies the log, the number is unknown: -1.
                guard isCopied, frames < Self.mostFrames else { return false }
                let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
                try OwnLog(of: file).overwrite(
                    after: 32 + frames * (24 + page), files: writer.condition.files)
                guard try Self.checkpoint("TRUNCATE", db).isDone else { return false }
                try body(db)
                isDone = true
                return true
            }
            if isEmpty { return }
            Thread.sleep(forTimeInterval: 0.02)
        }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "a reader (a verification or another program) still uses an older snapshot")
    }

    /// Transfers the log to the file; returns whether that was complete, with no readers left if the mode requires
    /// that, and the number of frames in the log.
    private static func checkpoint(
        _ mode: String, _ db: Database
    ) throws -> (isDone: Bool, frames: Int) {
        // Other entries wait behind the checkpoint, so it does not wait for readers.
        try db.execute(sql: "PRAGMA busy_timeout = 0")
        defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Opening.patience)") }
        do {
            let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(\(mode))")
            return row.map { ($0[0] == 0, $0[1]) } ?? (false, .max)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return (false, .max)
        }
    }
}

/// The write-ahead log of the open store, as a file.
struct OwnLog {
    private let path: String

    init(of database: String) { path = database + "-wal" }

    /// Writes zeros over everything that follows the log's frames, from `end` on, and syncs them; another file under
    /// the log's name is left as it is.
    func overwrite(after end: Int, files: OwnFiles) throws {
        // SQLite's locks are on other files, so closing this descriptor does not release them.
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw problem()
        }
        defer { close(descriptor) }
        guard !files.isReplaced(descriptor, at: path) else {
            throw DatabaseError(
                resultCode: .SQLITE_IOERR,
                message: "\(path) was replaced while the store is open")
        }
        var place = off_t(end)
        let size = lseek(descriptor, 0, SEEK_END)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        while place < size {
            let count = pwrite(descriptor, zeros, min(zeros.count, Int(size - place)), place)
            guard count > 0 else { throw problem() }
            place += off_t(count)
        }
        guard fdatasync(descriptor) == 0 else { throw problem() }
    }

    private func problem() -> DatabaseError {
        DatabaseError(
            resultCode: errno == ENOSPC ? .SQLITE_FULL : .SQLITE_IOERR,
            message: "\(path): \(String(cString: strerror(errno)))")
    }
}
