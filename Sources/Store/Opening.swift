internal import Foundation
internal import GRDB

/// Opens, checks and migrates the database file, and holds its lock.
struct Opening {
    let file: String
    let ownership: Ownership
    let pool: DatabasePool
    let identity: String
    let lastSequence: Int64
    /// The damage that this start and earlier ones found.
    let damages: [KeptDamage]
    /// SQLite's error if a table could not be read.
    let failure: (any Error)?
    /// The last entry whose changes are written to the records.
    let applied: Int64
    /// The entries after that one.
    let tail: Tail

    /// Opens the file in a directory, creating both if missing.
    ///
    /// It leaves any damage as it is.
    init(in directory: String) throws(StoreError) {
        let path = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        file = "\(path)/atrium.sqlite"
        try Self.makeDirectory(path)
        try StateFolder.checkFiles(in: path)
        ownership = try Ownership(of: "\(path)/atrium.lock")
        // Before SQLite opens the file, because it would continue behind damage in the log.
        var damages = try KeptDamage.checkLog(of: file)
        if StateFolder.size(of: file) == 0 { try Self.checkIsNew(file) }
        try Self.makeFile(file)
        do {
            try Self.checkFormat(of: file, damages)
            var pool = try Self.openPool(of: file, damages)
            let head = try pool.read(Head.init)
            if !head.damaged.isEmpty {
                // Closed first: closing a descriptor of an open file would release SQLite's locks on it.
                try pool.close()
                damages.append(try KeptDamage.copyFiles(of: file, without: head.damaged))
                pool = try Self.openPool(of: file, damages)
            }
            self.pool = pool
            identity = Self.renew(head.identity, after: damages, pool)
            lastSequence = head.lastSequence
            applied = head.applied
            tail = head.tail
            damages = KeptDamage.settleRestore(of: damages, in: file, identity: head.identity)
            let (problems, failure) = Self.problems(pool)
            // A file that SQLite can't read is not written to any more.
            if !problems.isEmpty, failure == nil { KeptDamage.copyStore(pool, of: file) }
            damages = KeptDamage.unlessFoundAgain(damages, problems, in: file)
            damages += problems.map { [file] problem in
                KeptDamage("\(problem). Stop the daemon and restore a backup", in: file)
            }
            self.damages = damages
            self.failure = failure
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(error, file: file, operation: "opening")
        }
    }

    /// Sets another identity of the store if entries are lost whose sequences will be given out again.
    ///
    /// Cursors from before the loss are then not valid, as after a restore. An identity that can't be written, as in a
    /// store that is only read, is used by this process all the same, and the next start makes another.
    private static func renew(
        _ identity: String, after damages: [KeptDamage], _ pool: DatabasePool
    ) -> String {
        let losses = damages.filter(\.needsIdentity)
        guard !losses.isEmpty else { return identity }
        let new = UUID().uuidString.lowercased()
        guard !damages.contains(where: \.forbidsWrites) else { return new }
        let isWritten: Void? = try? pool.write { db in try Meta.set(identity: new, db) }
        if isWritten != nil { for loss in losses { try? loss.noteIdentity() } }
        return new
    }

    /// Refuses a file of another program or of a later format before it is opened for writing.
    ///
    /// Opening a pool already writes to the file.
    private static func checkFormat(of file: String, _ damages: [KeptDamage]) throws {
        guard StateFolder.size(of: file) > 0 else { return }
        try checkHeader(of: file)
        var configuration = configuration
        configuration.readonly = true
        do {
            let reader = try DatabaseQueue(path: file, configuration: configuration)
            defer { try? reader.close() }
            _ = try reader.read { db in try versions(of: file, damages, db) }
        } catch let verdict as StoreError {
            throw verdict
        } catch {
            // Some files can be read only by a writer, such as one whose last transaction must be rolled back, and
            // some by nobody. Opening the file for writing will show which.
        }
    }

    /// Whether the database and what SQLite reads of its log have no tables; false if they can't be read.
    ///
    /// It writes to neither.
    static func lacksTables(_ file: String) -> Bool {
        var configuration = configuration
        configuration.readonly = true
        guard let reader = try? DatabaseQueue(path: file, configuration: configuration) else {
            return false
        }
        defer { try? reader.close() }
        let tables = try? reader.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema")
        }
        return tables == 0
    }

    /// Throws if the header says that only a later SQLite may write to the file: there is none, so it is damaged.
    ///
    /// SQLite would open it for reading, and report later that the database is read-only. Of everything else that may
    /// be wrong with a header it says itself that the file is damaged.
    private static func checkHeader(of file: String) throws(StoreError) {
        // Nobody has the file open yet: closing a descriptor of it would release SQLite's locks.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: file) }
        defer { close(descriptor) }
        var version: UInt8 = 0
        guard pread(descriptor, &version, 1, 18) == 1, version > 2 else { return }
        throw .corrupt(file: file, reason: "byte 18 of its header is \(version), not 1 or 2")
    }

    /// Opens a file, creates the tables in an empty one, and migrates an older one.
    private static func openPool(
        of file: String, _ damages: [KeptDamage]
    ) throws -> DatabasePool {
        let pool = try connect(to: file)
        let versions = try pool.read { db in try Self.versions(of: file, damages, db) }
        if let old = versions.max(), !versions.contains(Schema.version) {
            try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
            try pool.close()
            try Migration(of: file, from: old).run()
            return try openPool(of: file, damages)
        }
        try prepare(pool, identity: UUID().uuidString.lowercased())
        return pool
    }

    /// Opens a pool without waiting for the system's directory of users.
    private static func connect(to file: String) throws -> DatabasePool {
        if StateFolder.size(of: file) > 0, let alias = FileAlias(of: file) {
            var named = configuration
            // The readers are opened later, by the same name.
            named.prepareDatabase { _ in withExtendedLifetime(alias) {} }
            var reading = configuration
            reading.readonly = true
            // While this is open, a pool that fails does not remove the log as the file's last user.
            let reader = try? DatabaseQueue(path: file, configuration: reading)
            defer { try? reader?.close() }
            _ = try? reader?.read { db in
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema")
            }
            do {
                return try DatabasePool(path: alias.path, configuration: named)
            } catch let error as DatabaseError where error.resultCode != .SQLITE_BUSY {
                // Where GRDB finds no log, it creates and drops a table, for which the file may be too damaged, or the
                // disk too full. Under its own name the file can then still be opened.
            }
        }
        return try DatabasePool(path: file, configuration: configuration)
    }

    /// Finds damaged rows in the small tables, for people; the rest of the store is used nevertheless.
    private static func problems(_ pool: DatabasePool) -> ([String], (any Error)?) {
        var problems: [String] = []
        do {
            try pool.read { db in try TableCheck.find(&problems, db) }
            return (problems, nil)
        } catch {
            let reason = (error as? DatabaseError)?.reason ?? "\(error)"
            problems.append("the tables that say where records belong can't be read (\(reason))")
            return (problems, error)
        }
    }

    /// Creates a new file.
    static func make(_ file: String, identity: String) throws -> DatabasePool {
        try makeFile(file)
        let pool = try DatabasePool(path: file, configuration: configuration)
        try prepare(pool, identity: identity)
        return pool
    }

    private static func prepare(_ pool: DatabasePool, identity: String) throws {
        try pool.writeWithoutTransaction { db in
            try tune(db)
            guard try Schema.versions(of: db).isEmpty else { return }
            try db.inTransaction {
                try Schema.make(in: db, identity: identity)
                return .commit
            }
        }
    }

    /// The formats that a file names; none for an empty file.
    private static func versions(
        of file: String, _ damages: [KeptDamage], _ db: Database
    ) throws -> Set<String> {
        let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
        guard application == Schema.applicationID || (application == 0 && tables == 0) else {
            throw StoreError.foreign(file: file)
        }
        if let damage = damages.last, tables == 0 {
            // Even the tables are missing: to start anew, an administrator has to move the files away.
            throw StoreError.corrupt(
                file: file,
                reason:
                    "it has no tables, and \(damage.note) says what is kept of the files as they were: keep "
                    + "these, they have what there is of the data")
        }
        let versions = try Schema.versions(of: db)
        let newer = versions.subtracting(Schema.olderVersions).subtracting([Schema.version])
        guard newer.isEmpty else {
            throw StoreError.newerSchema(file: file, migrations: newer.sorted())
        }
        guard application != 0 || tables > 0 else {
            // An empty file is of no program yet.
            try checkIsNew(file)
            return []
        }
        guard !versions.isEmpty else {
            throw StoreError.corrupt(file: file, reason: "it does not name its format")
        }
        do {
            try Schema.check(versions, db)
        } catch let error as DatabaseError where error.lacksPart {
            throw StoreError.corrupt(file: file, reason: error.reason)
        }
        return versions
    }

    /// Throws if there was a store, in whose place an empty one would be begun.
    private static func checkIsNew(_ file: String) throws(StoreError) {
        if let mark = Reserve.mark(beside: file) { throw .lost(file: file, mark: mark) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "atrium.store"
        configuration.maximumReaderCount = 4
        // This timeout is for the start only: someone may be reading the file with the sqlite3 shell.
        configuration.busyMode = .timeout(5)
        // This takes effect before tables exist; a file with tables keeps its setting. Setting it writes a page all the
        // same, for which a full disk need not have room.
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return try FileContent.checkIsThere(db) }
            do {
                try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                guard try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2 else { throw error }
            }
        }
        return configuration
    }

    /// The time that a transaction waits for another process's lock, in milliseconds; callers wait as well.
    static let patience = 300

    private static func makeDirectory(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) != 0 else { return }
        switch errno {
        case EEXIST:
            return
        case ENOENT where path.dropFirst().contains("/"):
            try makeDirectory(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
            guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
            throw StoreError(errno: errno, file: path)
        default:
            throw StoreError(errno: errno, file: path)
        }
    }

    /// Creates the database file with mode 0600: SQLite's default is readable by everyone, and the file shows who voted
    /// for what.
    private static func makeFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: path) }
        close(descriptor)
    }

    /// Makes the writer's connection sync each commit.
    ///
    /// GRDB leaves it at `synchronous = NORMAL`, which syncs only at checkpoints, and may have committed a transaction
    /// that way. That transaction is synced here: otherwise ``LogCheck`` would report it as damage if it is torn and
    /// another one follows.
    private static func tune(_ db: Database) throws {
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try db.execute(sql: "PRAGMA busy_timeout = \(patience)")
        try db.execute(sql: "PRAGMA cache_size = -32768")
        // The size that the log's file keeps after a burst.
        try db.execute(sql: "PRAGMA journal_size_limit = \(WriteAheadLog.longestFile)")
        let mode = try Int.fetchOne(db, sql: "PRAGMA synchronous")
        guard mode == 2 else {
            throw DatabaseError(message: "PRAGMA synchronous stayed at \(mode ?? -1), not FULL")
        }
        try OpenLog(db).sync()
    }

}

/// The state of a file that a start needs.
private struct Head {
    let identity: String
    let lastSequence: Int64
    let applied: Int64
    let tail: Tail
    /// The entries whose changes are waiting and damaged.
    let damaged: LostEntries

    init(_ db: Database) throws {
        let values = try Row.fetchAll(db, sql: "SELECT name, value FROM meta")
        let identity = values.first { $0.text(0) == "identity" }?.text(1)
        guard let identity, UUID(uuidString: identity) != nil else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file has no identity")
        }
        guard let applied = values.first(where: { $0.text(0) == "applied" })?.number(1)
        else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "the file does not say what was applied")
        }
        self.identity = identity
        self.applied = applied
        let newest = try max(0, Int64.fetchOne(db, sql: "SELECT MAX(sequence) FROM entries") ?? 0)
        for number in [applied, newest] where !number.isPossible {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "\(number) is given as an entry's sequence")
        }
        var (tail, damaged) = try Self.tail(after: applied, through: newest, db)
        self.tail = tail
        // The last entry is never deleted, and no sequence is used twice.
        damaged.add(from: newest + 1, before: applied + 1)
        self.damaged = damaged
        lastSequence = max(newest, applied)
    }

    private static func tail(
        after applied: Int64, through end: Int64, _ db: Database
    ) throws -> (Tail, LostEntries) {
        var last = applied
        var tail = Tail()
        var damaged = LostEntries()
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT e.sequence, c.name, e.position, e.changes, e.sum, e.time, e.actor, e.topic,
                    e.public, e.restricted
                FROM entries e JOIN containers c ON c.id = e.container
                WHERE e.sequence > ? ORDER BY e.sequence
                """, arguments: [applied])
        while let row = try rows.next() {
            let sequence: Int64 = row[0]
            damaged.add(from: last + 1, before: sequence)
            last = sequence
            let changes = (row[3] as Data?).map { [UInt8]($0) }
            var entry = Tail.Waiting(
                sequence: sequence, container: row[1] as String? ?? "",
                position: row[2] as Int64? ?? 0, changes: [], sum: row[4] as Int64? ?? 0)
            let stays = EntrySum.of(
                container: entry.container, sequence: sequence, position: entry.position,
                time: row[5] as Int64? ?? 0, actor: row[6], topic: row[7],
                payload: (row[8] as Data?).map { [UInt8]($0) },
                restricted: (row[9] as Data?).map { [UInt8]($0) })
            if let changes { entry.sum ^= EntrySum.ofChanges(changes, sequence: sequence) }
            // NULL changes: there were none, they were written at once, or damage removed them.
            let decoded = changes.map { $0.withUnsafeBytes { ChangesCode.decode($0) } } ?? []
            if let decoded, entry.sum == stays {
                entry.changes = decoded
            } else {
                damaged.add(from: sequence, before: sequence + 1)
            }
            tail.add(entry)
        }
        damaged.add(from: last + 1, before: end + 1)
        tail.commit()
        return (tail, damaged)
    }
}
