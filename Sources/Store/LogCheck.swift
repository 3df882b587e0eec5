internal import Foundation

/// What stands in the write-ahead log, looked at before SQLite opens the file.
///
/// SQLite reads the log up to the first frame whose checksum is wrong and says nothing of those behind it:
/// that is how the log ends after a crash, and also how a flipped bit in its middle hides all that was committed
/// after it. The two differ. A transaction is synced before the next one begins, so a crash can spoil frames of the
/// last transaction alone. A frame's checksum continues the one stored in the frame before it, so that it can be tested
/// wherever reading resumes. A frame that continues a commit was written after that commit was synced: where
/// such a pair stands behind the first wrong frame, what SQLite would leave out had been committed.
///
/// Frames of earlier generations of the log have other salts and count for nothing. What can't be told from
/// a crash is damage in the last transaction, in the commit mark before it, and a log that was cut off.
///
/// The format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>
package struct LogCheck: Sendable {
    /// Committed transactions that SQLite will not read.
    package struct Loss: Equatable, Sendable {
        /// The offset of the first byte that is not read: of a frame, or 0 for the log's header.
        package var offset: Int64
        /// How many there are at least.
        package var transactions: Int
    }

    /// How many transactions SQLite will read.
    package private(set) var transactions = 0
    /// The offset behind the last of them; 0 where there is none.
    package private(set) var end: Int64 = 0
    /// What it will leave out although it was committed; nil: nothing that could be proved.
    package private(set) var loss: Loss?

    static let headerSize = 32
    static let frameHeaderSize = 24
    /// What a disk writes whole or not at all.
    private static let sector: Int64 = 512

    private var salts: UInt64?
    private var isIntact: Bool
    private var before: Mark
    /// Where the first frame stands that is not as it was written.
    private var wrong: Int64 = 0
    private var hidden = 0

    /// A frame, as the one after it sees it.
    private struct Mark {
        var salts: UInt64
        var sum: LogSum
        var isCommit = false
    }

    /// Reads the log of a database; nil where there is no log, or nothing in it.
    ///
    /// - Parameter database: the path of the database file; `-wal` stands behind it.
    /// - Throws: `StoreError` where there is one that can't be read.
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
        // Which of the two byte orders the sums are in stands in the part that may be wrong.
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
                    take(
                        UnsafeRawBufferPointer(
                            rebasing: bytes[index * frame..<(index + 1) * frame]),
                        at: offset + Int64(index * frame))
                }
            }
            guard whole == perRead else { return }
            offset += Int64(whole * frame)
        }
    }

    private mutating func take(_ frame: UnsafeRawBufferPointer, at offset: Int64) {
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
        note(&mark, continues: continues, at: offset)
    }

    /// From here on SQLite does not read.
    private mutating func spoil(at offset: Int64) {
        isIntact = false
        wrong = offset
    }

    private mutating func note(_ mark: inout Mark, continues: Bool, at offset: Int64) {
        // The header is synced before any frame is written: where it is wrong no crash was at work.
        let isHeaderWrong = wrong == 0
        if continues, before.isCommit { loss = Loss(offset: wrong, transactions: hidden) }
        guard mark.isCommit else { return }
        // The mark of a frame that is not whole may be an older one's, where a sector ends behind it.
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

/// The first bytes of a log.
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

/// The log's checksum, which each frame continues.
private struct LogSum: Equatable {
    private var first: UInt32
    private var second: UInt32
    var isBigEndian: Bool

    init(_ first: UInt32, _ second: UInt32, isBigEndian: Bool) {
        self.first = first
        self.second = second
        self.isBigEndian = isBigEndian
    }

    /// Adds bytes, a multiple of eight, that are aligned to words.
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

/// A file that is read in pieces.
private final class LogFile {
    let size: Int
    private let path: String
    private let descriptor: Int32

    /// Opens it; nil where there is none.
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

    /// Reads bytes, fewer only where the file ends.
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
