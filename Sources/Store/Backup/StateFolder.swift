internal import Foundation
internal import GRDB

/// The files of a store in its folder: `atrium.sqlite`, its log, and copies of damaged files.
enum StateFolder {
    private static let prefix = "atrium.sqlite"
    /// The prefix of folders that keep replaced stores.
    static let keptPrefix = "before-"
    /// The index of the log, which belongs to the process that has the file open.
    private static let index = "\(prefix)-shm"

    /// The names of the store's files, without the index, which SQLite rebuilds.
    static func names(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(prefix) && $0 != index }.sorted()
    }

    /// Throws if something else is where a file of the store belongs.
    ///
    /// Opening a named pipe without a writer would wait for ever, for SQLite too. Of a symbolic link, SQLite would keep
    /// the log beside the file that it leads to, where nothing else looks for it.
    static func checkFiles(in folder: String) throws(StoreError) {
        let files = ["", "-wal", "-shm", "-journal"].map { prefix + $0 }
        for name in ["atrium.lock", "atrium.reserve"] + files {
            let path = "\(folder)/\(name)"
            var info = stat()
            guard lstat(path, &info) == 0, info.st_mode & S_IFMT != S_IFREG else { continue }
            let kind =
                switch info.st_mode & S_IFMT {
                case S_IFLNK: "a symbolic link"
                case S_IFIFO: "a named pipe"
                case S_IFSOCK: "a socket"
                case S_IFDIR: "a folder"
                case S_IFCHR, S_IFBLK: "a device"
                default: "no regular file"
                }
            throw .noFile(path: path, kind: kind)
        }
    }

    /// Whether a path is that of a symbolic link, wherever that leads.
    static func isLink(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
    }

    /// Links or copies all of the store's files into a new folder, so that another file can replace the database.
    ///
    /// The database itself also stays under its old name, with everything that was committed.
    ///
    /// - Parameters:
    ///   - folder: the state directory; no other process may use it.
    ///   - identity: the identity of the other file.
    /// - Returns: the new folder, and the paths of files that the caller removes once the database is replaced: copies
    ///   of what was found damaged, with their notes, by which a start that happens before still knows of the damage. One
    ///   more note is among them if the log could not be transferred to the database completely.
    /// - Throws: `StoreError` on failure; the files are then where they were.
    static func preserveFiles(
        of folder: String, for identity: String
    ) throws -> (folder: String, obsolete: [String]) {
        let kept = try makeFolder(in: folder)
        do {
            return (kept, try preserveFiles(of: folder, for: identity, in: kept))
        } catch {
            // Unless it has the only copy of something.
            if !KeptDamage.hasRestoreNote(beside: "\(folder)/\(prefix)") {
                try? FileManager.default.removeItem(atPath: kept)
            }
            throw error
        }
    }

    private static func preserveFiles(
        of folder: String, for identity: String, in kept: String
    ) throws -> [String] {
        let (file, log) = ("\(folder)/\(prefix)", "\(folder)/\(prefix)-wal")
        let before = names(in: folder)
        var note: String?
        let hasLog = size(of: log) > 0
        if hasLog {
            // Copied as bytes: SQLite would leave out what follows a damaged frame.
            try KeptDamage.copy(log, to: "\(kept)/\(prefix)-wal")
            try sync(kept)
            try sync(folder)
        }
        if hasLog, access(file, F_OK) == 0 {
            func noteLog() throws -> String {
                try KeptDamage.noteLog(of: file, isKeptIn: kept, until: identity)
            }
            // Before SQLite cuts off what follows the damage in the log.
            if try LogCheck(of: file)?.loss != nil { note = try noteLog() }
            // Transfers what is only in the log to the database, so that it is never missing.
            if (try? takeInLog(of: file)) == nil { note = try noteLog() }
        }
        let noteName = note.map { URL(filePath: $0).lastPathComponent }
        for name in before where name != "\(prefix)-wal" && name != noteName {
            guard link("\(folder)/\(name)", "\(kept)/\(name)") == 0 else {
                throw StoreError(errno: errno, file: "\(kept)/\(name)")
            }
        }
        try sync(kept)
        try sync(folder)
        // SQLite would add the log to the database that replaces this one.
        let logs = ["\(prefix)-wal", "\(prefix)-journal", index]
        for name in logs { unlink("\(folder)/\(name)") }
        return names(in: folder).filter { $0 != prefix }.map { "\(folder)/\($0)" }
    }

    /// Syncs a folder's entries to the disk.
    static func sync(_ folder: String) throws(StoreError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreError(errno: errno, file: folder) }
    }

    private static func takeInLog(of file: String) throws {
        let queue = try DatabaseQueue(path: file)
        defer { try? queue.close() }
        _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    private static func makeFolder(in folder: String) throws(StoreError) -> String {
        let time = Date.now.formatted(.iso8601).replacing(/[-:]/, with: "")
        var path = "\(folder)/\(keptPrefix)\(time)"
        while mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw StoreError(errno: errno, file: path) }
            path += "-more"
        }
        return path
    }

    /// Returns the size of a file in bytes; 0 if there is none.
    ///
    /// It does not use Foundation, which would also look up the owner's name in the system's directory of users, and
    /// may hang.
    static func size(of path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : 0
    }
}
