internal import Foundation
internal import GRDB

/// An opened, migrated and exclusively owned database file.
struct Opening {
    let file: String
    let ownership: Ownership
    let pool: DatabasePool
    let identity: String
    let lastSequence: Int64
    /// What this start and earlier ones found damaged.
    let damages: [KeptDamage]

    /// Opens the file in the directory, making both where there are none.
    ///
    /// Whatever it finds wrong it leaves as it is.
    init(in directory: String) throws(StoreError) {
        let path = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        file = "\(path)/atrium.sqlite"
        try Self.makeDirectory(path)
        ownership = try Ownership(of: "\(path)/atrium.lock")
        // Before SQLite, which would go on where the log is damaged.
        damages = try KeptDamage.look(at: file)
        try Self.makeFile(file)
        do {
            pool = try DatabasePool(path: file, configuration: Self.configuration)
            try pool.read(Self.checkOrigin(of: file, damages))
            // First of all: a migration's transactions are synced one by one, too.
            try pool.writeWithoutTransaction(Self.tune)
            try Schema.migrator.migrate(pool)
            (identity, lastSequence) = try pool.read(Self.head)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(error, file: file, operation: "opening")
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "atrium.store"
        configuration.maximumReaderCount = 4
        // Of a start: someone may look at the file with the sqlite3 shell.
        configuration.busyMode = .timeout(5)
        return configuration
    }

    /// How many milliseconds a transaction waits for another process's lock: callers wait with it.
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

    /// SQLite would make the file readable by everyone, and it holds who voted for what.
    private static func makeFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: path) }
        close(descriptor)
    }

    private static func checkOrigin(
        of file: String, _ damages: [KeptDamage]
    ) -> (Database) throws -> Void {
        { db in
            let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
            let tables = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
            guard application == Schema.applicationID || (application == 0 && tables == 0) else {
                throw StoreError.foreign(file: file)
            }
            if let damage = damages.last, tables == 0 {
                // Not even the tables are left: whoever wants to begin anew moves the files away.
                throw StoreError.corrupt(file: file, reason: damage.description)
            }
            guard try Schema.migrator.hasBeenSuperseded(db) else { return }
            let known = Set(Schema.migrator.migrations)
            let newer = try Schema.migrator.appliedIdentifiers(db).subtracting(known)
            throw StoreError.newerSchema(file: file, migrations: newer.sorted())
        }
    }

    /// GRDB leaves a pool's writer at `synchronous = NORMAL`, which syncs only at checkpoints.
    private static func tune(_ db: Database) throws {
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try db.execute(sql: "PRAGMA busy_timeout = \(patience)")
        try db.execute(sql: "PRAGMA cache_size = -32768")
        // 16 MiB of log between checkpoints, and no more than 64 MiB kept after a burst.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
        try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
        let mode = try Int.fetchOne(db, sql: "PRAGMA synchronous")
        guard mode == 2 else {
            throw DatabaseError(message: "PRAGMA synchronous stayed at \(mode ?? -1), not FULL")
        }
    }

    private static func head(_ db: Database) throws -> (String, Int64) {
        let identity = try String.fetchOne(
            db, sql: "SELECT value FROM meta WHERE name = 'identity'")
        guard let identity, UUID(uuidString: identity) != nil else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file has no identity")
        }
        let last = try Int64.fetchOne(db, sql: "SELECT MAX(sequence) FROM entries")
        return (identity, last ?? 0)
    }
}
