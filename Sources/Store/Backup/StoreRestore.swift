internal import Foundation
internal import GRDB

/// The result of a restore.
public struct RestoredStore: Sendable, Equatable {
    /// The size of the store's file, in bytes.
    public let bytes: Int
    /// The sequence of the last entry in it.
    public let sequence: Int64
    /// The store's new identity.
    public let identity: String
    /// The folder that keeps the replaced store; nil: there was none.
    public let kept: String?
}

/// Restores a backup to a state directory that no daemon uses.
///
/// The backup is copied to a file beside the store and checked there. That file then replaces the store in one step;
/// an interruption before that step leaves the old store in place.
///
/// The restored store gets a new identity, so that cursors of the replaced store are not valid in it.
public struct StoreRestore: ~Copyable {
    private let folder: String
    private let file: String
    private let source: Int32
    private let name: String
    private let ownership: Ownership

    /// Locks the state directory, which must exist, to restore a backup that is open for reading from its beginning
    /// on; throws if a daemon uses it.
    public init(from source: Int32, named name: String, to directory: String) throws(RestoreError) {
        folder = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        file = "\(folder)/atrium.sqlite"
        (self.source, self.name) = (source, name)
        do throws(StoreError) {
            ownership = try Ownership(of: "\(folder)/atrium.lock")
        } catch {
            throw .store(error)
        }
    }

    /// Restores the backup, in place of an existing store if `replacing`, which is kept aside; after an error nothing
    /// was changed.
    public consuming func run(replacing: Bool) throws(RestoreError) -> RestoredStore {
        let isThere = !StateFolder.names(in: folder).isEmpty
        guard replacing || !isThere else { throw .storeThere(file: file) }
        do {
            try StateFolder.checkFiles(in: folder)
            DraftFile.removeAll(in: folder)
            let draft = try DraftFile(beside: file, for: .restore)
            let bytes = try copy(to: draft)
            let (identity, sequence) = try lookOver(draft)
            guard fsync(draft.descriptor) == 0 else {
                throw StoreError(errno: errno, file: draft.path)
            }
            let kept = isThere ? try StateFolder.preserveFiles(of: folder, for: identity) : nil
            guard rename(draft.path, file) == 0 else { throw StoreError(errno: errno, file: file) }
            for path in kept?.obsolete ?? [] { unlink(path) }
            try StateFolder.sync(folder)
            return RestoredStore(
                bytes: bytes, sequence: sequence, identity: identity, kept: kept?.folder)
        } catch let error as RestoreError {
            throw error
        } catch let error as StoreError {
            throw .store(error)
        } catch {
            throw .damaged(file: name, reason: (error as? DatabaseError)?.reason ?? "\(error)")
        }
    }

    /// Copies the backup; throws if it is truncated or not a store.
    private borrowing func copy(to draft: borrowing DraftFile) throws -> Int {
        var total = 0
        var header: BackupHeader?
        var start: [UInt8] = []
        while true {
            let part = try read()
            if header == nil {
                start += part
                guard start.count >= BackupHeader.size || part.isEmpty else { continue }
                let found = try BackupHeader(start, of: name)
                header = found
                try checkSize(found, after: start.count)
                try checkRoom(found)
                try write(start, to: draft, total, found)
                total += start.count
            } else {
                try write(part, to: draft, total, header)
                total += part.count
            }
            guard !part.isEmpty else { break }
        }
        if let expected = header?.expected, total != expected {
            throw RestoreError.truncated(file: name, bytes: total, expected: expected)
        }
        return total
    }

    /// Throws if a backup that is a file has another size than its header says, before there would be no room for that.
    private borrowing func checkSize(_ header: BackupHeader, after count: Int) throws {
        var status = stat()
        let place = Int(lseek(source, 0, SEEK_CUR))
        guard let expected = header.expected, place >= count, fstat(source, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return }
        let bytes = Int(status.st_size) - place + count
        guard bytes == expected else {
            throw RestoreError.truncated(file: name, bytes: bytes, expected: expected)
        }
    }

    private borrowing func checkRoom(_ header: BackupHeader) throws {
        let free = FileRoom.free(in: folder)
        guard let needed = header.expected, needed > free else { return }
        throw RestoreError.noRoom(folder: folder, needed: needed, free: free)
    }

    private borrowing func read() throws -> [UInt8] {
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, filled in
                count = Glibc.read(source, buffer.baseAddress, buffer.count)
                filled = max(0, count)
            }
            if count >= 0 { return bytes }
            guard errno == EINTR else {
                throw RestoreError.unreadable(file: name, reason: String(cString: strerror(errno)))
            }
        }
    }

    private borrowing func write(
        _ bytes: [UInt8], to draft: borrowing DraftFile, _ total: Int, _ header: BackupHeader?
    ) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(draft.descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == ENOSPC || errno == EDQUOT {
                let free = FileRoom.free(in: folder)
                let needed = header?.expected ?? total + bytes.count
                throw RestoreError.noRoom(folder: folder, needed: needed, free: free + total)
            } else if errno != EINTR {
                throw StoreError(errno: errno, file: draft.path)
            }
        }
    }

    /// Checks the contents of the copy, and gives it an identity.
    private borrowing func lookOver(
        _ draft: borrowing DraftFile
    ) throws -> (identity: String, sequence: Int64) {
        let queue = try DatabaseQueue(path: draft.path)
        defer { try? queue.close() }
        let identity = UUID().uuidString.lowercased()
        return try queue.inDatabase { db in
            // Triggers and views are refused: they would run code of unknown origin at the next change.
            let code = try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')")
            guard code == 0 else {
                throw RestoreError.foreign(file: name, reason: "it has triggers or views")
            }
            let found = try String.fetchAll(db, sql: "PRAGMA quick_check(1)")
            guard found == ["ok"] else {
                throw RestoreError.damaged(file: name, reason: found.joined(separator: "; "))
            }
            try checkFormat(db)
            // The file of a stopped store is in WAL mode.
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
            try Self.set(identity, db)
            guard db.changesCount == 1 else {
                throw RestoreError.damaged(file: name, reason: "it has no identity")
            }
            return (identity, try Int64.fetchOne(db, sql: "SELECT MAX(sequence) FROM entries") ?? 0)
        }
    }

    private static func set(_ identity: String, _ db: Database) throws {
        guard try !Schema.versions(of: db).contains(Schema.version) else {
            return try Meta.set(identity: identity, db)
        }
        try db.execute(
            sql: "UPDATE meta SET value = ? WHERE name = 'identity'", arguments: [identity])
    }

    /// Checks that a file has the tables of its format, and the sums of one in the current format.
    ///
    /// Files in older formats have no sums; a migration checks them.
    private borrowing func checkFormat(_ db: Database) throws {
        let versions = try Schema.versions(of: db)
        let newer = versions.subtracting(Schema.olderVersions).subtracting([Schema.version])
        guard newer.isEmpty else {
            throw RestoreError.newer(file: name, migrations: newer.sorted())
        }
        guard !versions.isEmpty else {
            throw RestoreError.damaged(file: name, reason: "it does not name its format")
        }
        try Schema.check(versions, db)
        guard versions.contains(Schema.version), let damage = try StoreRecount.damage(db) else {
            return
        }
        throw RestoreError.damaged(file: name, reason: damage)
    }
}
