internal import GRDB

/// The reason why the store's file could not be opened or read, with the file and what to do.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another process uses the state directory; the owner is its process id if known.
    case inUse(file: String, owner: String?)
    /// A newer version of Atrium wrote the file; its unknown migrations are named.
    case newerSchema(file: String, migrations: [String])
    /// The file is an SQLite database that another program made.
    case foreign(file: String)
    /// The file is damaged, or not an SQLite database.
    case corrupt(file: String, reason: String)
    /// The file does not exist, or has no tables, although another file shows that there was a store.
    case lost(file: String, mark: String)
    /// A file of the open store was removed or replaced, or another program wrote to it.
    case gone(file: String)
    /// The file or its directory can't be made or written.
    case notWritable(file: String, reason: String)
    /// Something else is where a file of the store belongs, such as a named pipe or a folder.
    case noFile(path: String, kind: String)
    /// There is no space left for the file.
    case full(file: String, reason: String)
    /// The operation failed for another reason.
    case failed(file: String, operation: String, reason: String)
    /// The store was closed before the operation.
    case closed(file: String)

    /// A sentence for people, with what to do about it.
    public var description: String {
        switch self {
        case .inUse(let file, let owner):
            "\(file) is in use by another daemon\(owner.map { " (process \($0))" } ?? ""): "
                + "stop it, or give this one another state directory"
        case .newerSchema(let file, let migrations):
            "\(file) was written by a newer Atrium (\(migrations.joined(separator: ", "))): "
                + "run that version, or restore a copy made by this one"
        case .foreign(let file):
            "\(file) is a database of another program: move it away, "
                + "or choose another state directory"
        case .corrupt(let file, let reason):
            "\(file) is damaged (\(reason)): restore a backup, or move \(Self.files(beside: file)) away to start "
                + "empty"
        case .lost(let file, let mark):
            "\(file) is gone or empty, although \(mark) shows that there was a store: restore a "
                + "backup, or move \(Self.files(beside: file)) away to start empty"
        case .gone(let file):
            "\(file) was removed, replaced, cut or overwritten while the store is open: put it back or "
                + "restore a backup, and restart the daemon"
        case .notWritable(let file, let reason):
            "\(file) can't be written (\(reason)): check the owner and mode of the state "
                + "directory, and that its file system is not read-only; a service of systemd "
                + "writes elsewhere than to /var/lib with ReadWritePaths= in a drop-in"
        case .noFile(let path, let kind):
            "\(path) is \(kind), where a file of the store belongs: move it away"
        case .full(let file, let reason):
            "no space for \(file) (\(reason)): free some on its file system"
        case .failed(let file, let operation, let reason):
            "\(operation) \(file) failed: \(reason)"
        case .closed(let file):
            "\(file) was closed: open the store again"
        }
    }

    /// All files of a store: its log, its lock, its reserve and the notes of damage lie beside it.
    private static func files(beside file: String) -> String {
        "\(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])/atrium.*"
    }

    /// Maps an error to the case that tells a person what to do.
    init(_ error: any Error, file: String, operation: String) {
        if error is RowDecodingError {
            self = .corrupt(file: file, reason: "a row has nothing, or another type, in a column")
            return
        }
        guard let error = error as? DatabaseError else {
            self = .failed(file: file, operation: operation, reason: String(describing: error))
            return
        }
        let reason = error.reason
        switch error.resultCode {
        case _ where error.isDamage:
            self = .corrupt(file: file, reason: reason)
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
            self = .notWritable(file: file, reason: reason)
        case .SQLITE_FULL:
            self = .full(file: file, reason: reason)
        case .SQLITE_IOERR where error.mayLackRoom && Reserve.isShort(beside: file):
            self = .full(file: file, reason: reason)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self = .inUse(file: file, owner: nil)
        default:
            self = .failed(file: file, operation: operation, reason: reason)
        }
    }
}

extension StoreError {
    /// Whether an opening may fail so because the disk is full: SQLite has several errors for that.
    var mayLackRoom: Bool {
        switch self {
        case .full, .notWritable, .failed: true
        // The reserve is also what shows that there was a store.
        case .inUse, .newerSchema, .foreign, .corrupt, .lost, .gone, .noFile, .closed: false
        }
    }
}

extension DatabaseError {
    /// Whether SQLite reports that the file is damaged, or has no longer all of its tables.
    var isDamage: Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) || lacksPart || hasOtherFormat
    }

    /// Whether the file's header names a format of the schema that this SQLite does not know.
    ///
    /// All SQLite of the last decades know the formats that there are, so the header is damaged.
    private var hasOtherFormat: Bool {
        resultCode == .SQLITE_ERROR && message == "unsupported file format"
    }

    /// Whether a table, a column or an index does not exist; our statements name only those that the schema creates.
    var lacksPart: Bool {
        guard resultCode == .SQLITE_ERROR, let message else { return false }
        return ["no such table", "no such column", "no such index"].contains {
            message.hasPrefix($0)
        }
    }

    /// Whether SQLite may report a write for which there is no room as this error of the disk.
    fileprivate var mayLackRoom: Bool {
        [
            .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC,
            .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMSIZE,
        ].contains(extendedResultCode)
    }

    /// SQLite's message and code, without statement and arguments, which contain people's data.
    var reason: String {
        "SQLite error \(extendedResultCode.rawValue): \(message ?? "no message")"
    }

    /// Whether a single entry caused the error; all other errors mean that the file can't be written.
    var blamesEntry: Bool {
        switch resultCode {
        case _ where isDamage:
            false
        case .SQLITE_CONSTRAINT, .SQLITE_TOOBIG, .SQLITE_MISMATCH, .SQLITE_RANGE, .SQLITE_ERROR:
            true
        default:
            false
        }
    }
}
