internal import Foundation

/// Checks the write-ahead log before SQLite opens the file.
///
/// SQLite reads the log up to the first frame whose checksum is wrong, and does not report the frames behind it. A
/// log ends like this after a crash, but a flipped bit in its middle also hides everything that was committed after
/// it. The two can be distinguished. A transaction is synced before the next one begins, so a crash can damage only
/// frames of the last transaction. A frame's checksum continues the one stored in the frame before it, so checking
/// can resume at any frame. A frame that continues a commit was written after that commit was synced: if such a pair
/// follows the first wrong frame, SQLite would leave out committed transactions.
///
/// Frames of earlier generations of the log have other salts and are ignored. Some damage looks like a crash and
/// can't be detected: in the last transaction, in the commit mark before it, and a log that was cut off.
///
/// The format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>
package struct LogCheck: Sendable {
    /// Committed transactions that SQLite will not read.
    package struct Loss: Equatable, Sendable {
        /// The offset of the first unread byte: of a frame, or 0 for the log's header.
        package var offset: Int64
        /// The number of lost transactions, at least.
        package var transactions: Int
    }

    /// The number of transactions that SQLite will read.
    package private(set) var transactions = 0
    /// The offset behind the last of them; 0 if there is none.
    package private(set) var end: Int64 = 0
    /// The committed transactions that SQLite will leave out; nil: none can be proved.
    package private(set) var loss: Loss?

    static let headerSize = 32
    static let frameHeaderSize = 24
    /// The size that a disk writes atomically.
    private static let sector: Int64 = 512

    private var salts: UInt64?
    private var isIntact: Bool
    private var before: Mark
    /// The offset of the first damaged frame.
    private var wrong: Int64 = 0
    private var hidden = 0

    /// The values of a frame that the check of the next frame needs.
    private struct Mark {
        var salts: UInt64
        var sum: LogSum
        var isCommit = false
    }

    /// Reads the log of a database, which lies beside it with `-wal` after its name; nil if there is no log, or an
    /// empty one.
    package init?(of database: String) throws(StoreError) {
        guard let log = try LogFile("\(database)-wal"), log.size > Self.headerSize else {
            return nil
        }
        let header = try log.read(at: 0, count: Self.headerSize).withUnsafeBytes(LogHeader.init)
        if header.isValid {
            self.init(header, isBigEndian: header.isBigEndian)
            try scan(log, pageSize: header.pageSize)
            return
        }
        guard let size = try Self.pageSize(of: database) ?? header.plausiblePageSize else {
            return nil
        }
        // The byte order of the sums is stored in the header, which may be damaged: try both.
        self.init(header, isBigEndian: header.isBigEndian)
        try scan(log, pageSize: size)
        guard loss == nil else { return }
        self.init(header, isBigEndian: !header.isBigEndian)
        try scan(log, pageSize: size)
    }

    private init(_ header: LogHeader, isBigEndian: Bool) {
        isIntact = header.isValid
        salts = header.isValid ? header.salts : nil
        before = Mark(salts: header.salts, sum: header.sum)
        before.sum.isBigEndian = isBigEndian
    }

    private mutating func scan(_ log: LogFile, pageSize: Int) throws(StoreError) {
        let frame = Self.frameHeaderSize + pageSize
        let perRead = max(1, (1 << 20) / frame)
        var offset = Int64(Self.headerSize)
        while true {
            let bytes = try log.read(at: offset, count: perRead * frame)
            let whole = bytes.count / frame
            bytes.withUnsafeBytes { bytes in
                for index in 0..<whole {
                    check(
                        UnsafeRawBufferPointer(
                            rebasing: bytes[index * frame..<(index + 1) * frame]),
                        at: offset + Int64(index * frame))
                }
            }
            guard whole == perRead else { return }
            offset += Int64(whole * frame)
        }
    }

    private mutating func check(_ frame: UnsafeRawBufferPointer, at offset: Int64) {
        let page = frame.bigEndianWord(at: 0)
        var mark = Mark(
            salts: frame.bigEndianSalts(at: 8),
            sum: LogSum(
                frame.bigEndianWord(at: 16), frame.bigEndianWord(at: 20),
                isBigEndian: before.sum.isBigEndian),
            isCommit: frame.bigEndianWord(at: 4) != 0)
        defer { before = mark }
        guard page != 0, salts == nil || mark.salts == salts else {
            mark.isCommit = false
            if isIntact { spoil(at: offset) }
            return
        }
        var sum = before.sum
        if before.salts == mark.salts {
            sum.add(UnsafeRawBufferPointer(rebasing: frame[..<8]))
            sum.add(UnsafeRawBufferPointer(rebasing: frame[Self.frameHeaderSize...]))
        }
        let continues = before.salts == mark.salts && sum == mark.sum
        if continues { salts = mark.salts }
        if isIntact, continues {
            guard mark.isCommit else { return }
            transactions += 1
            end = offset + Int64(frame.count)
            return
        }
        if isIntact { spoil(at: offset) }
        addUnread(&mark, continues: continues, at: offset)
    }

    /// Marks the offset from which SQLite does not read.
    private mutating func spoil(at offset: Int64) {
        isIntact = false
        wrong = offset
    }

    /// Counts a transaction that SQLite does not read, and records a loss if this or an earlier one is intact.
    private mutating func addUnread(_ mark: inout Mark, continues: Bool, at offset: Int64) {
        // The header is synced before any frame is written, so a crash can't have damaged it.
        let isHeaderWrong = wrong == 0
        if continues, before.isCommit { loss = Loss(offset: wrong, transactions: hidden) }
        guard mark.isCommit else { return }
        // If a sector ends behind an incomplete frame's header, its commit mark may be from an older frame.
        guard continues || (offset + 8) % Self.sector != 0 else {
            mark.isCommit = false
            return
        }
        hidden += 1
        if continues, isHeaderWrong || loss != nil {
            loss = Loss(offset: wrong, transactions: hidden)
        }
    }

    private static func pageSize(of database: String) throws(StoreError) -> Int? {
        guard let bytes = try LogFile(database)?.read(at: 16, count: 2), bytes.count == 2 else {
            return nil
        }
        let size = Int(bytes[0]) << 8 | Int(bytes[1])
        return LogHeader.isPageSize(size) ? size : size == 1 ? 65_536 : nil
    }
}

private struct LogHeader {
    let isValid: Bool
    let isBigEndian: Bool
    let pageSize: Int
    let salts: UInt64
    let sum: LogSum

    init(_ bytes: UnsafeRawBufferPointer) {
        let magic = bytes.bigEndianWord(at: 0)
        isBigEndian = magic & 1 == 1
        pageSize = Int(bytes.bigEndianWord(at: 8))
        salts = bytes.bigEndianSalts(at: 16)
        sum = LogSum(
            bytes.bigEndianWord(at: 24), bytes.bigEndianWord(at: 28), isBigEndian: isBigEndian)
        var expected = LogSum(0, 0, isBigEndian: isBigEndian)
        expected.add(UnsafeRawBufferPointer(rebasing: bytes[..<24]))
        isValid = magic & ~1 == 0x377f_0682 && Self.isPageSize(pageSize) && expected == sum
    }

    var plausiblePageSize: Int? { Self.isPageSize(pageSize) ? pageSize : nil }

    static func isPageSize(_ size: Int) -> Bool {
        (512...65_536).contains(size) && size & (size - 1) == 0
    }
}

/// The log's checksum; each frame continues it.
private struct LogSum: Equatable {
    private var first: UInt32
    private var second: UInt32
    var isBigEndian: Bool

    init(_ first: UInt32, _ second: UInt32, isBigEndian: Bool) {
        self.first = first
        self.second = second
        self.isBigEndian = isBigEndian
    }

    /// Adds bytes; their number is a multiple of eight, and they are aligned to words.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        let words = bytes.assumingMemoryBound(to: UInt32.self)
        var (first, second) = (first, second)
        var index = 0
        if isBigEndian {
            while index < words.count {
                first &+= UInt32(bigEndian: words[index]) &+ second
                second &+= UInt32(bigEndian: words[index + 1]) &+ first
                index += 2
            }
        } else {
            while index < words.count {
                first &+= UInt32(littleEndian: words[index]) &+ second
                second &+= UInt32(littleEndian: words[index + 1]) &+ first
                index += 2
            }
        }
        (self.first, self.second) = (first, second)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func bigEndianWord(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    fileprivate func bigEndianSalts(at offset: Int) -> UInt64 {
        UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

/// A file that is read in parts.
private final class LogFile {
    let size: Int
    private let path: String
    private let descriptor: Int32

    /// Opens a file; nil if there is none.
    init?(_ path: String) throws(StoreError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw StoreError(errno: errno, file: path) }
            return nil
        }
        var info = stat()
        size = fstat(descriptor, &info) == 0 ? Int(info.st_size) : 0
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Reads bytes, fewer only at the end of the file.
    func read(at offset: Int64, count: Int) throws(StoreError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled,
                    off_t(offset) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                if read < 0 { failure = errno }
                guard read > 0 else { return }
                filled += read
            }
        }
        guard failure == 0 else {
            throw .failed(
                file: path, operation: "reading", reason: String(cString: strerror(failure)))
        }
        return bytes
    }
}
