internal import Foundation
internal import GRDB
internal import Synchronization

/// A copy of the whole store as it was at one moment: one SQLite file without what was deleted.
///
/// The file is beside the store's, without a name. It takes room there until this object goes, and nothing else: the
/// store's log is not held. Reading is synchronous: do it away from the event loop.
public final class Backup: Sendable {
    /// How many bytes the file has.
    public let bytes: Int
    /// The sequence of the last entry in it, 0 before the first.
    public let sequence: Int64
    /// The identity of the store that it is a copy of.
    public let identity: String
    private let descriptor: Int32
    private let folder: String

    /// Takes over a file that is whole.
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

    /// The bytes from an offset on.
    ///
    /// - Parameters:
    ///   - offset: from 0.
    ///   - count: so many at most.
    /// - Returns: as many as there are; none at the end.
    /// - Throws: `StoreError` when they can't be read.
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

/// Why there is no backup.
public enum BackupError: Error, Sendable, Equatable {
    /// The file system of the folder has fewer bytes than the copy needs.
    case noRoom(folder: String, needed: Int, free: Int)
    /// It was told to stop.
    case cancelled
    /// The store can't be read, or the file not be made.
    case store(StoreError)
}

/// The making of a backup, which another thread may end.
public final class BackupMaking: Sendable {
    private enum State {
        case waiting
        case copying(DatabaseQueue)
        case cancelled
    }

    /// So much is left free for the store's own log, which grows by that between checkpoints.
    private static let reserve = 16 << 20

    private let state = Mutex(State.waiting)

    /// One that has not begun.
    public init() {}

    /// Copies the store as it is now, and compares what was copied with its sums.
    ///
    /// It takes as long as the disk does: call it away from the event loop, once.
    ///
    /// Writes and other reads go on meanwhile; the store's log can't be shortened until it is through.
    ///
    /// - Parameter store: the store.
    /// - Returns: the copy.
    /// - Throws: ``BackupError``, also where a part of the store is damaged; the store is as it was, and nothing is left
    ///   beside it.
    public func make(of store: Store) throws(BackupError) -> Backup {
        // What was purged is not to be in the copy; where nothing can be written, it is.
        try? store.writer.finishTail()
        store.waitForDeletion()
        guard !store.writer.isClosed else { throw .store(.closed(file: store.file)) }
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

    /// Ends it as soon as possible; one that has ended is left as it is.
    public func cancel() {
        state.withLock { state in
            if case .copying(let source) = state { source.interrupt() }
            state = .cancelled
        }
    }

    private func copy(_ store: Store) throws -> Backup {
        // A connection of its own: the store's have others' work to do.
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
                // An empty file is filled; it has its mode already.
                try db.execute(sql: "VACUUM INTO ?", arguments: [file.path])
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw noRoom
        }
        let copy = try DatabaseQueue(path: file.path, configuration: configuration)
        defer { try? copy.close() }
        try begin(copy)
        let (identity, sequence) = try copy.inDatabase { db in
            // A restore would refuse it, perhaps after it took the place of one that is whole.
            if let damage = try StoreRecount.damage(db) {
                throw StoreError.corrupt(file: store.file, reason: damage)
            }
            return (
                try String.fetchOne(db, sql: "SELECT value FROM meta WHERE name = 'identity'"),
                try Int64.fetchOne(db, sql: "SELECT MAX(sequence) FROM entries")
            )
        }
        return try Backup(file, sequence: sequence ?? 0, identity: identity ?? store.identity)
    }

    /// Notes which connection is at work, so that another thread may interrupt it.
    private func begin(_ source: DatabaseQueue) throws(BackupError) {
        let goesOn = state.withLock { state in
            if case .cancelled = state { return false }
            state = .copying(source)
            return true
        }
        guard goesOn else { throw .cancelled }
    }

    /// The bytes of the pages that hold something.
    private static func liveBytes(_ db: Database) throws -> Int {
        func pragma(_ name: String) throws -> Int {
            try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
        }
        return try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }
}
