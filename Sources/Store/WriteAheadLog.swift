internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Keeps the write-ahead log short, and its file longer than the log.
///
/// - **Copying.** A commit that leaves a long log copies it into the database, on the writer's own connection. No other
///   connection of this process copies it: in SQLite before 3.51.3 a copying that begins while another one restarts the
///   log can lose frames.
/// - **Room.** A sync takes less time if the bytes before it were overwritten than if they made the file longer. Zeros
///   are therefore written behind the log's frames before commits get there. SQLite does not read beyond the last
///   valid frame, and keeps the file's size when it restarts the log.
///
/// Sendable because `step`, `seen` and `room` are used only on the writer's queue, and everything else is atomic.
final class WriteAheadLog: @unchecked Sendable {
    /// The number of frames, of a page each, from which a commit copies the log: 8 MiB.
    let limit = Atomic(2_048)
    /// The number of frames for which room is made at a time: 1 MiB.
    var step = 256

    /// The size in bytes up to which room is made; SQLite keeps as much when it restarts the log.
    static let longestFile = 64 << 20

    /// The number of frames in the log, as of the last commit.
    private let length = Atomic(0)
    /// Forgets what the files contained when copying fails; set before the first commit.
    private var condition: StoreCondition?
    /// The length at the last call of ``follow(_:)``.
    private var seen = 0
    /// The number of frames that the file has room for; `.max`: no more room can be made.
    private var room = 0

    /// Watches the commits of the writer's connection, and copies the log in place of SQLite's own hook.
    func attach(to pool: DatabasePool, _ condition: StoreCondition) {
        self.condition = condition
        pool.writeWithoutTransaction { db in
            // This object lives as long as the writer, which closes the connection.
            _ = sqlite3_wal_hook(
                db.sqliteConnection,
                { log, connection, name, frames in
                    guard let log else { return SQLITE_OK }
                    let keeper = Unmanaged<WriteAheadLog>.fromOpaque(log).takeUnretainedValue()
                    keeper.length.store(Int(frames), ordering: .relaxed)
                    if Int(frames) >= keeper.limit.load(ordering: .relaxed) {
                        // Its failure is none of the commit's; the next commit tries again.
                        let code = sqlite3_wal_checkpoint_v2(
                            connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                        if code != SQLITE_OK { keeper.condition?.forgetContent() }
                    }
                    return SQLITE_OK
                }, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// Makes room for the next commits, between two groups of entries.
    func follow(_ pool: DatabasePool) {
        let length = length.load(ordering: .relaxed)
        // SQLite has restarted the log, and a truncation may have preceded that.
        if length < seen { room = 0 }
        seen = length
        if length + step / 2 > room { makeRoom(for: length + step, pool) }
    }

    /// Makes SQLite keep the file with the log's name when the last connection is closed.
    static func keepFile(_ db: Database) {
        var isKept: CInt = 1
        sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
    }

    // MARK: Room

    /// Makes the log's file long enough for this many frames.
    ///
    /// If it fails, commits make the file longer, or report the error.
    private func makeRoom(for frames: Int, _ pool: DatabasePool) {
        do {
            room = try pool.writeWithoutTransaction { db in
                let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
                let frame = LogCheck.frameHeaderSize + page
                let wanted = LogCheck.headerSize + frames * frame
                guard wanted <= Self.longestFile else { return .max }
                // Nobody else appends to the log meanwhile.
                try db.inTransaction(.immediate) {
                    try OpenLog(db).extend(to: wanted)
                    return .rollback
                }
                return frames
            }
        } catch {
            room = .max
        }
    }
}

/// The file of the log, as SQLite has it open.
struct OpenLog {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    init(_ db: Database) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(
            db.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods else {
            throw DatabaseError(message: "the log is not open")
        }
        self.file = file
        self.methods = methods.pointee
    }

    /// Writes zeros behind the file's end.
    func extend(to wanted: Int) throws {
        var size: Int64 = 0
        try check(methods.xFileSize(file, &size))
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        while size < wanted {
            let count = min(zeros.count, wanted - Int(size))
            try check(methods.xWrite(file, zeros, Int32(count), size))
            size += Int64(count)
        }
    }

    /// Waits until everything written is on the disk.
    func sync() throws {
        try check(methods.xSync(file, SQLITE_SYNC_NORMAL))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
