internal import Foundation
internal import GRDB

/// The files of a store in its folder: `atrium.sqlite`, its log, and what was kept of damaged ones.
enum StateFolder {
    private static let prefix = "atrium.sqlite"
    /// How the folders begin in which whole stores are kept.
    static let keptPrefix = "before-"
    /// What belongs to the process that has the file open.
    private static let index = "\(prefix)-shm"

    /// Their names, but that of what SQLite makes anew.
    static func names(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(prefix) && $0 != index }.sorted()
    }

    /// Keeps all of them in a folder of their own, from which another file may then take the place of the database.
    ///
    /// The database itself stays, with all that was committed, under its old name too.
    ///
    /// - Parameters:
    ///   - folder: the state directory, which nobody else uses.
    ///   - identity: that of the other file.
    /// - Returns: the new folder; and, where the log could not be taken into the database whole, a note that says so to a start
    ///   before the other file has taken the place, for the caller to remove then.
    /// - Throws: `StoreError` where it can't; the files are where they were.
    static func keep(
        of folder: String, for identity: String
    ) throws -> (folder: String, note: String?) {
        let kept = try makeFolder(in: folder)
        let (file, log) = ("\(folder)/\(prefix)", "\(folder)/\(prefix)-wal")
        let before = names(in: folder)
        var note: String?
        let hasLog = size(of: log) > 0
        if hasLog {
            // As it is: SQLite would leave out what lies behind damage.
            try KeptDamage.copy(log, to: "\(kept)/\(prefix)-wal")
            try sync(kept)
            try sync(folder)
        }
        if hasLog, access(file, F_OK) == 0 {
            func noteLog() throws -> String {
                try KeptDamage.noteLog(of: file, isKeptIn: kept, until: identity)
            }
            // Before the damaged log is cut off behind what can be read of it.
            if try LogCheck(of: file)?.loss != nil { note = try noteLog() }
            // What is only in the log goes into the database, so that there is no moment without it.
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
        let gone = names(in: folder).filter { $0 != prefix && $0 != noteName } + [index]
        for name in gone { unlink("\(folder)/\(name)") }
        return (kept, note)
    }

    /// Writes a folder's entries to the disk.
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

    /// How many bytes a file has; 0 where there is none.
    ///
    /// Foundation would ask the system's directory of users for the owner's name, which may hang.
    static func size(of path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : 0
    }
}
