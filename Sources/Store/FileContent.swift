internal import GRDB
internal import GRDBSQLite

/// The files of the open store, as the writer's SQLite has them: finds what others wrote into them.
///
/// SQLite does not notice if a file that it has open is cut or overwritten. What it knows of both files is in the
/// log's index, which is shared memory: the number of frames, the salts of the log's header, and how many frames are
/// copied. As long as that is the same, nobody has copied the log, and the database's header may not change.
///
/// Made and used only in calls of the writer's connection, so that this process neither commits nor copies meanwhile.
struct FileContent {
    /// The log's index.
    ///
    /// The format: <https://www.sqlite.org/walformat.html>
    struct Index: Equatable {
        var frames = 0
        var pages = 0
        var pageSize = 0
        var copied = 0
        var salts: UInt64 = 0

        fileprivate init?(_ file: UnsafeMutablePointer<sqlite3_file>) {
            guard let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2 else {
                return nil
            }
            var region: UnsafeMutableRawPointer?
            guard methods.xShmMap(file, 0, 32_768, 0, &region) == SQLITE_OK, let region,
                region.load(fromByteOffset: 12, as: UInt8.self) != 0
            else { return nil }
            let size = Int(region.load(fromByteOffset: 14, as: UInt16.self))
            // 65,536 does not fit, and is stored as 1.
            pageSize = size == 1 ? 65_536 : size
            frames = Int(region.load(fromByteOffset: 16, as: UInt32.self))
            pages = Int(region.load(fromByteOffset: 20, as: UInt32.self))
            salts = region.load(fromByteOffset: 32, as: UInt64.self)
            copied = Int(region.load(fromByteOffset: 96, as: UInt32.self))
        }

        /// Whether the log was not copied since another index.
        func isCopied(asIn other: Index) -> Bool {
            salts == other.salts && copied == other.copied
        }
    }

    let index: Index
    let databaseSize: Int
    let header: [UInt8]
    private let logSize: Int
    private let logHeader: [UInt8]

    /// nil: the files can't be read, or another program changes them at this moment.
    init?(_ db: Database) {
        guard let database = Self.file(SQLITE_FCNTL_FILE_POINTER, db),
            let log = Self.file(SQLITE_FCNTL_JOURNAL_POINTER, db),
            let index = Index(database),
            let (databaseSize, header) = Self.start(of: database, count: 100),
            let (logSize, logHeader) = Self.start(of: log, count: 32),
            Index(database) == index
        else { return nil }
        self.index = index
        (self.databaseSize, self.header) = (databaseSize, header)
        (self.logSize, self.logHeader) = (logSize, logHeader)
    }

    /// Compares the database with what SQLite knows of it, and with an earlier look; returns what is wrong, nil if
    /// nothing was found.
    func databaseProblem(since before: FileContent?) -> String? {
        let isAllCopied = index.copied >= index.frames
        if databaseSize == 0 { return "is empty" }
        if isAllCopied, databaseSize < index.pages * index.pageSize { return "is cut off" }
        guard let before else { return nil }
        // The marks of SQLite, the page size and the mode of writing.
        if header[..<24] != before.header[..<24] { return "has another header" }
        guard index.isCopied(asIn: before.index) else { return nil }
        if databaseSize < before.databaseSize { return "is cut off" }
        return header == before.header ? nil : "has another header"
    }

    /// What is wrong with the log; nil: nothing was found.
    var logProblem: String? {
        // A log that is begun anew keeps its old header until the next commit.
        guard index.frames > 0 else { return nil }
        let frame = LogCheck.frameHeaderSize + index.pageSize
        if logSize < LogCheck.headerSize + index.frames * frame { return "is cut off" }
        let isMarked = logHeader[0] == 0x37 && logHeader[1] == 0x7f && logHeader[2] == 6
        let salts = logHeader.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        }
        return isMarked && salts == index.salts ? nil : "has another header"
    }

    // MARK: Reading

    private static func file(
        _ which: Int32, _ db: Database
    ) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(db.sqliteConnection, "main", which, &file)
        return code == SQLITE_OK && file?.pointee.pMethods != nil ? file : nil
    }

    /// The size and the first bytes; zeros follow the end.
    private static func start(
        of file: UnsafeMutablePointer<sqlite3_file>, count: Int
    ) -> (size: Int, bytes: [UInt8])? {
        guard let methods = file.pointee.pMethods?.pointee else { return nil }
        var size: Int64 = 0
        guard methods.xFileSize(file, &size) == SQLITE_OK else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let code = methods.xRead(file, &bytes, Int32(count), 0)
        guard code == SQLITE_OK || code == SQLITE_IOERR | (2 << 8) else { return nil }
        return (Int(size), bytes)
    }

    /// Throws if the database that a connection has just opened is empty, before SQLite reads it: SQLite would remove
    /// the log beside it.
    static func checkIsThere(_ db: Database) throws {
        guard let opened = Self.file(SQLITE_FCNTL_FILE_POINTER, db),
            let methods = opened.pointee.pMethods?.pointee
        else { return }
        var size: Int64 = 0
        guard methods.xFileSize(opened, &size) == SQLITE_OK, size == 0 else { return }
        throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "the database is empty")
    }
}
