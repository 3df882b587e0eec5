internal import Foundation
internal import GRDB
internal import Synchronization

/// A copy of the whole store as of one moment: one SQLite file without deleted data.
///
/// The file lies beside the store's, without a name. Its space is freed when this object is released; the store's log
/// is not held meanwhile. Reads are synchronous: call them away from the event loop.
public final class Backup: Sendable {
    /// The size of the file, in bytes.
    public let bytes: Int
    /// The sequence of the last entry in it, 0 before the first.
    public let sequence: Int64
    /// The identity of the store that was copied.
    public let identity: String
    private let descriptor: Int32
    private let folder: String

    /// Takes ownership of a complete file.
    fileprivate init(_ file: consuming DraftFile, sequence: Int64, identity: String) throws {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else {
            throw StoreError(errno: errno, file: file.path)
        }
        let copy = dup(file.descriptor)
        guard copy >= 0 else { throw StoreError(errno: errno, file: file.path) }
        _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
        (descriptor, folder) = (copy, file.folder)
        (bytes, self.sequence, self.identity) = (Int(status.st_size), sequence, identity)
    }

    deinit { close(descriptor) }

    /// Reads bytes at an offset: fewer where the file ends, none at the end.
    public func read(at offset: Int, atMost count: Int) throws(StoreError) -> [UInt8] {
        var wanted = max(0, min(count, bytes - offset))
        var code: Int32 = 0
        let read = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            while filled < wanted {
                let part = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), wanted - filled,
                    off_t(offset + filled))
                if part > 0 {
                    filled += part
                } else if part == 0 {
                    wanted = filled
                } else if errno != EINTR {
                    code = errno
                    return
                }
            }
        }
        guard code == 0 else {
            throw .failed(
                file: folder, operation: "reading a backup in",
                reason: String(cString: strerror(code)))
        }
        return read
    }
}

/// Why a backup was not made.
public enum BackupError: Error, Sendable, Equatable {
    /// The folder's file system has fewer free bytes than the copy needs.
    case noRoom(folder: String, needed: Int, free: Int)
    /// ``BackupMaking/cancel()`` was called.
    case cancelled
    /// The store can't be read, or the file can't be made.
    case store(StoreError)
}

/// Makes a backup; another thread may cancel it.
public final class BackupMaking: Sendable {
    private enum State {
        case waiting
        case copying(DatabaseQueue)
        case cancelled
    }

    /// The bytes to leave free for the store's own log, which grows by about this much between checkpoints.
    private static let reserve = 16 << 20

    private let state = Mutex(State.waiting)

    /// Creates one that has not started.
    public init() {}

    /// Copies the store as it is now, and checks the copy against its sums.
    ///
    /// It takes as long as the disk does: call it away from the event loop, and only once.
    ///
    /// Writes and other reads continue meanwhile; the store's log can't be shortened until the copy is complete.
    ///
    /// - Parameter store: the store.
    /// - Returns: the copy.
    /// - Throws: ``BackupError``, also if a part of the store is damaged. The store is then unchanged, and no file is
    ///   left beside it.
    public func make(of store: Store) throws(BackupError) -> Backup {
        // Purged rows should not be in the copy; they are if the store can't be written to.
        try? store.writer.finishTail()
        store.waitForDeletion()
        guard !store.writer.condition.isClosed else { throw .store(.closed(file: store.file)) }
        if let lost = store.writer.condition.findChangedFile(store.pool) {
            throw .store(.gone(file: lost))
        }
        do {
            return try copy(store)
        } catch let error as BackupError {
            throw error
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw .cancelled
        } catch {
            throw .store(store.failure(error, "copying"))
        }
    }

    /// Cancels the copy as soon as possible; does nothing once it has ended.
    public func cancel() {
        state.withLock { state in
            if case .copying(let source) = state { source.interrupt() }
            state = .cancelled
        }
    }

    private func copy(_ store: Store) throws -> Backup {
        // A connection of its own, because the store's connections serve other callers.
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "atrium.store.backup"
        configuration.busyMode = .timeout(5)
        let source = try DatabaseQueue(path: store.file, configuration: configuration)
        defer { try? source.close() }
        try begin(source)
        let file = try DraftFile(beside: store.file, for: .backup)
        let needed = try source.inDatabase(Self.liveBytes)
        let free = FileRoom.free(in: file.folder)
        let noRoom = BackupError.noRoom(
            folder: file.folder, needed: needed + Self.reserve, free: free)
        guard needed + Self.reserve <= free else { throw noRoom }
        do {
            try source.inDatabase { db in
                // VACUUM INTO accepts an empty file, which already has its mode.
                try db.execute(sql: "VACUUM INTO ?", arguments: [file.path])
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw noRoom
        }
        let copy = try DatabaseQueue(path: file.path, configuration: configuration)
        defer { try? copy.close() }
        try begin(copy)
        let (identity, sequence) = try copy.inDatabase { db in
            // A restore would refuse a damaged copy, perhaps after the copy had replaced an intact store. Rows that a
            // damaged page names twice are copied as they come.
            let found = try String.fetchAll(db, sql: "PRAGMA quick_check(1)")
            let damage =
                found == ["ok"]
                ? try StoreRecount.damage(db) : found.joined(separator: "; ")
            if let damage {
                throw StoreError.corrupt(file: store.file, reason: damage)
            }
            return (
                try String.fetchOne(db, sql: "SELECT value FROM meta WHERE name = 'identity'"),
                try Int64.fetchOne(db, sql: "SELECT MAX(sequence) FROM entries")
            )
        }
        return try Backup(file, sequence: sequence ?? 0, identity: identity ?? store.identity)
    }

    /// Sets the connection in use, so that another thread can interrupt it.
    private func begin(_ source: DatabaseQueue) throws(BackupError) {
        let goesOn = state.withLock { state in
            if case .cancelled = state { return false }
            state = .copying(source)
            return true
        }
        guard goesOn else { throw .cancelled }
    }

    /// The size of all pages in use, in bytes.
    private static func liveBytes(_ db: Database) throws -> Int {
        func pragma(_ name: String) throws -> Int {
            try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
        }
        return try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }
}
