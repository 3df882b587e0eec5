internal import GRDB
internal import GRDBSQLite

/// A statement of SQLite's own interface.
///
/// Groups of entries are written with these, prepared once for the writer's connection, and all records of a component
/// are read with one. GRDB, which does more at each step and for each column, opens the file and reads the rest. Errors
/// are GRDB's nevertheless.
final class PreparedStatement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    /// Holds bound bytes until the statement has run; copies made by SQLite would each be an allocation.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 1)
    private var used = 0

    /// SQLITE_TRANSIENT, a macro that Swift does not import: makes SQLite copy bytes that do not fit into the room.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ sql: String, _ db: Database) throws {
        guard let connection = db.sqliteConnection else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed")
        }
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw Self.error(code, connection) }
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
        room.deallocate()
    }

    /// Binds a number, or NULL.
    func bind(_ number: Int64?, at index: Int32) {
        if let number {
            sqlite3_bind_int64(handle, index, number)
        } else {
            sqlite3_bind_null(handle, index)
        }
    }

    /// Binds a blob.
    func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        guard !bytes.isEmpty else {
            sqlite3_bind_zeroblob(handle, index, 0)
            return
        }
        let (start, copies) = kept(bytes)
        sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), copies)
    }

    /// Binds a blob, or NULL.
    func bind(_ bytes: [UInt8]?, at index: Int32) {
        guard let bytes else {
            sqlite3_bind_null(handle, index)
            return
        }
        bytes.withUnsafeBytes { bind($0, at: index) }
    }

    /// Binds the UTF-8 of a text as a blob.
    func bind(bytesOf text: String, at index: Int32) {
        var text = text
        text.withUTF8 { bind(UnsafeRawBufferPointer($0), at: index) }
    }

    /// Binds a text, or NULL.
    func bind(_ text: String?, at index: Int32) {
        guard var text else {
            sqlite3_bind_null(handle, index)
            return
        }
        text.withUTF8 { bytes in
            let (start, copies) = kept(UnsafeRawBufferPointer(bytes))
            sqlite3_bind_text(
                handle, index, start?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
                copies)
        }
    }

    /// Returns the address at which SQLite finds the bytes when the statement runs, and whether SQLite must copy them
    /// now.
    private func kept(
        _ bytes: UnsafeRawBufferPointer
    ) -> (start: UnsafeRawPointer?, copies: sqlite3_destructor_type?) {
        guard bytes.count <= room.count - used else { return (bytes.baseAddress, Self.copied) }
        let place = UnsafeMutableRawBufferPointer(rebasing: room[used..<used + bytes.count])
        place.copyMemory(from: bytes)
        used += bytes.count
        return (UnsafeRawPointer(place.baseAddress), nil)
    }

    /// Runs the statement, and resets it.
    func run() throws {
        while try step() {}
    }

    /// Steps to the next row; returns false, and resets the statement, if there is none.
    func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let failure = code == SQLITE_DONE ? nil : Self.error(code, connection)
        reset()
        if let failure { throw failure }
        return false
    }

    /// Resets the statement before its last row.
    func reset() {
        sqlite3_reset(handle)
        used = 0
    }

    /// A number in the row; 0 for NULL.
    func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The bytes of a blob or a text in the row, valid until the next step; none for NULL.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    private static func error(_ code: Int32, _ connection: OpaquePointer) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: String(cString: sqlite3_errmsg(connection)))
    }
}
