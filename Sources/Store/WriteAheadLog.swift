internal import Dispatch
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Keeps the write-ahead log short, and its file longer than the log.
///
/// - **Copying.** On its own, SQLite copies a long log into the database within a commit, so that all callers of this
///   commit wait for thousands of pages and two syncs. Here a thread copies the log on a connection of its own, while
///   commits go on. SQLite restarts the log only when all of it is copied. When few frames are left, the writer therefore
///   copies these itself, between two groups.
/// - **Room.** A sync takes less time if the bytes before it were overwritten than if they made the file longer. Zeros
///   are therefore written behind the log's frames before commits get there. SQLite does not read beyond the last
///   valid frame, and keeps the file's size when it restarts the log.
///
/// The log grows beyond ``limit`` while it is copied, and as long as a reader uses an old snapshot. If it is four times
/// as long, commits wait until the copying has ended.
///
/// Sendable because `copier` is used only on `copies`, `limit`, `step`, `state`, `seen` and `room` only on the writer's
/// queue, and everything else is immutable or has a lock of its own.
final class WriteAheadLog: @unchecked Sendable {
    /// The number of frames, of a page each, at which the log is copied: 16 MiB.
    var limit = 4_096
    /// The number of frames for which room is made at a time: 1 MiB.
    var step = 256

    /// The number of limits at which commits wait for the copying.
    private static let longest = 4
    /// The most frames that the writer copies itself.
    private static let rest = 64
    /// The size in bytes up to which room is made; SQLite keeps as much when it restarts the log.
    static let longestFile = 64 << 20

    private enum State {
        /// The log is copied once it has this many frames; nil: ``limit``.
        case filling(until: Int?)
        case copying
    }

    private let file: String
    /// The number of frames in the log, as of the last commit.
    private let length = Atomic(0)
    private let isEnding = Atomic(false)
    private let copies = DispatchQueue(label: "atrium.store.copies")
    private var copier: DatabaseQueue?
    /// How the last copying ended: the number of frames that are left, or an error.
    private let ended = Mutex<Result<Int, any Error>?>(nil)
    private var state = State.filling(until: nil)
    /// The length at the last call of ``follow(_:copied:)``.
    private var seen = 0
    /// The number of frames that the file has room for; `.max`: no more room can be made.
    private var room = 0

    var isCopying: Bool {
        switch state {
        case .copying: true
        case .filling: false
        }
    }

    /// Creates the keeper of a database's log.
    ///
    /// - Parameter file: the path of the database.
    init(of file: String) { self.file = file }

    /// Watches the commits of the writer's connection, and replaces SQLite's own copying.
    func attach(to pool: DatabasePool) {
        pool.writeWithoutTransaction { db in
            // This object lives as long as the writer, which closes the connection.
            _ = sqlite3_wal_hook(
                db.sqliteConnection,
                { log, _, _, frames in
                    guard let log else { return SQLITE_OK }
                    let keeper = Unmanaged<WriteAheadLog>.fromOpaque(log).takeUnretainedValue()
                    keeper.length.store(Int(frames), ordering: .relaxed)
                    return SQLITE_OK
                }, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// Does what the log needs between two groups of entries.
    ///
    /// - Parameters:
    ///   - pool: the pool of the writer.
    ///   - copied: called on another thread when copying has ended, so that this is called again soon.
    /// - Throws: why the log could not be copied; it is tried again when the log has grown.
    func follow(_ pool: DatabasePool, copied: @escaping @Sendable () -> Void) throws {
        let length = length.load(ordering: .relaxed)
        if length < seen {
            // SQLite has restarted the log, and a truncation may have preceded that.
            room = 0
            if case .filling = state { state = .filling(until: nil) }
        }
        seen = length
        if length + step / 2 > room { makeRoom(for: length + step, pool) }
        switch state {
        case .filling(let until):
            guard length >= until ?? limit else { return }
            state = .copying
            copies.async { [self] in
                copy()
                copied()
            }
        case .copying:
            if length > Self.longest * limit { copies.sync {} }
            guard let result = ended.withLock({ $0.take() }) else { return }
            // Until the log is restarted: a reader may keep it from that for long.
            state = .filling(until: length + max(1, limit / 8))
            guard try result.get() <= Self.rest else { return }
            _ = try Self.transfer(pool)
        }
    }

    /// Ends the copying, and closes its connection.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        copies.sync {
            try? copier?.close()
            copier = nil
        }
    }

    // MARK: Copying

    /// Copies until few frames are left, or none more can be copied.
    private func copy() {
        let result = Result<Int, any Error> {
            let copier = try copier ?? DatabaseQueue(path: file)
            self.copier = copier
            var (rest, before) = (Int.max, Int.max)
            repeat {
                before = rest
                rest = try Self.transfer(copier)
            } while rest > Self.rest && rest < before && !isEnding.load(ordering: .relaxed)
            return rest
        }
        ended.withLock { $0 = result }
    }

    /// Copies what no reader holds back, without waiting.
    ///
    /// - Returns: the number of frames that are left; all, if somebody else is copying.
    private static func transfer(_ connection: some DatabaseWriter) throws -> Int {
        try connection.writeWithoutTransaction { db in
            do {
                let counts = try db.checkpoint(.passive)
                return counts.walFrameCount - counts.checkpointedFrameCount
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return .max
            }
        }
    }

    // MARK: Room

    /// Makes the log's file long enough for so many frames.
    ///
    /// If it fails, commits make the file longer, or say what is wrong.
    private func makeRoom(for frames: Int, _ pool: DatabasePool) {
        do {
            room = try pool.writeWithoutTransaction { db in
                let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
                let frame = LogCheck.frameHeaderSize + page
                let wanted = LogCheck.headerSize + frames * frame
                guard wanted <= Self.longestFile else { return .max }
                // Nobody else appends to the log meanwhile.
                try db.inTransaction(.immediate) {
                    try LogRoom(db).extend(to: wanted)
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
private struct LogRoom {
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

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
