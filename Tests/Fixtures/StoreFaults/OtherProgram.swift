import GRDB
public import Store
import Synchronization

/// Another program that has a store's file open.
public final class OtherProgram: Sendable {
    private let queue: DatabaseQueue
    private let isLocking = Mutex(false)

    /// Opens the file.
    public init(at file: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(10)
        queue = try DatabaseQueue(path: file, configuration: configuration)
    }

    /// Has the database refuse entries of which a condition on their row, `NEW`, holds; by default all.
    public func refuseEntries(where condition: String = "1") throws {
        try execute(
            """
            DROP TRIGGER IF EXISTS refused;
            CREATE TRIGGER refused BEFORE INSERT ON entries WHEN \(condition)
            BEGIN SELECT RAISE(ABORT, 'refused by a test'); END;
            """)
    }

    /// Has the database refuse to delete records of what was purged.
    public func keepPurged() throws {
        try execute(
            """
            CREATE TRIGGER kept BEFORE DELETE ON records
            WHEN EXISTS (SELECT 1 FROM purges WHERE component = OLD.component)
            BEGIN SELECT RAISE(ABORT, 'kept by a test'); END;
            """)
    }

    /// Has the database note how many records each transaction takes from a component.
    public func noteDeletions() throws {
        try execute(
            """
            CREATE TABLE deletions(records INTEGER, entry INTEGER);
            CREATE TRIGGER noted AFTER UPDATE OF records ON components WHEN NEW.records < OLD.records
            BEGIN
                INSERT INTO deletions
                VALUES (OLD.records - NEW.records, (SELECT MAX(sequence) FROM entries));
            END;
            """)
    }

    /// What was noted since: how many records, and which entry was the last one by then.
    public func deletions() throws -> [(records: Int, entry: Int)] {
        try rows("SELECT CAST(records AS TEXT), CAST(entry AS TEXT) FROM deletions ORDER BY rowid")
            .map {
                (Int($0[0]) ?? 0, Int($0[1]) ?? 0)
            }
    }

    /// Takes the lock of those who write.
    public func lock() throws {
        try execute("BEGIN IMMEDIATE")
        isLocking.withLock { $0 = true }
    }

    /// Takes the lock, which the store's next write finds taken at once.
    public func lockOut(_ store: Store) throws {
        _ = try store.pragma("busy_timeout = 0")
        try lock()
    }

    /// Gives the lock back.
    public func unlock() throws {
        guard isLocking.withLock({ $0 }) else { return }
        isLocking.withLock { $0 = false }
        try execute("ROLLBACK")
    }

    /// Gives the lock back, and lets all entries be written and what was purged be deleted.
    public func heal() throws {
        try unlock()
        try execute("DROP TRIGGER IF EXISTS refused; DROP TRIGGER IF EXISTS kept")
    }

    /// Runs statements.
    public func execute(_ sql: String) throws {
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
    }

    /// The rows that a query has, as texts.
    public func rows(_ sql: String) throws -> [[String]] {
        try queue.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { String.fromDatabaseValue($0) ?? "" }
            }
        }
    }
}

/// Holds a store's writer: what is appended waits at a lock.
public final class HeldWriter: Sendable {
    private let store: Store
    private let program: OtherProgram

    /// Holds it from now on.
    public init(_ store: Store) throws {
        self.store = store
        // Longer than any test waits.
        _ = try store.pragma("busy_timeout = 300000")
        program = try OtherProgram(at: store.file)
        try program.lock()
    }

    /// Whether the writer has taken on all that was appended.
    public var hasTakenAll: Bool { store.waitingCount == 0 }

    /// Lets it go on.
    public func release() throws {
        try program.unlock()
        _ = try store.pragma("busy_timeout = 300")
    }
}
