/// The bytes of a text whose memory belongs to the caller, who keeps it in place.
///
/// Unlike `UnsafeRawBufferPointer` it always has an address, so that no access has to check for its absence. Bounds are
/// checked in debug builds.
@usableFromInline
struct JSONBytes: BitwiseCopyable {
    @usableFromInline let start: UnsafeRawPointer
    @usableFromInline let count: Int

    @inlinable @inline(__always)
    init(start: UnsafeRawPointer, count: Int) {
        self.start = start
        self.count = count
    }

    /// No bytes.
    static var none: JSONBytes { JSONBytes("") }

    init(_ text: StaticString) {
        self.init(start: UnsafeRawPointer(text.utf8Start), count: text.utf8CodeUnitCount)
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else {
            self = .none
            return
        }
        self.init(start: start, count: bytes.count)
    }

    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    @inlinable @inline(__always)
    subscript(position: Int) -> UInt8 {
        assert(position >= 0 && position < count)
        return start.load(fromByteOffset: position, as: UInt8.self)
    }

    @inline(__always)
    subscript(range: Range<Int>) -> JSONBytes {
        assert(range.lowerBound >= 0 && range.upperBound <= count)
        return JSONBytes(start: start + range.lowerBound, count: range.count)
    }

    /// Eight bytes, the first one lowest.
    @inlinable @inline(__always)
    func word(at position: Int) -> UInt64 {
        assert(position >= 0 && position + 8 <= count)
        return UInt64(
            littleEndian: start.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// Four bytes, the first one lowest.
    @inline(__always)
    func halfWord(at position: Int) -> UInt64 {
        assert(position >= 0 && position + 4 <= count)
        return UInt64(
            UInt32(littleEndian: start.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
    }

    /// Whether both hold the same bytes.
    @inlinable @inline(__always)
    func isEqual(to other: JSONBytes) -> Bool {
        guard count == other.count else { return false }
        var position = 0
        while position &+ 8 <= count {
            guard word(at: position) == other.word(at: position) else { return false }
            position &+= 8
        }
        while position < count {
            guard self[position] == other[position] else { return false }
            position &+= 1
        }
        return true
    }
}

// Strings are looked through eight bytes at a time. Each byte of a word is compared in its own lane, and
// marked by its highest bit. A lane may only be marked by mistake above one that is marked rightly: the
// first mark is always right.
extension JSONBytes {
    /// Returns the place of the first byte from `start` on that ends a string or needs closer inspection.
    ///
    /// That is a quote, a backslash, a control character or a byte beyond ASCII; the end if there is none.
    @inline(__always)
    func endOfPlainText(from start: Int) -> Int {
        var position = start
        while position &+ 8 <= count {
            let word = word(at: position)
            let marks = (word.marksOfEscapes | word) & .highBits
            if marks != 0 { return position &+ marks.firstMark }
            position &+= 8
        }
        while position < count, !self[position].needsEscape, self[position] < 0x80 {
            position &+= 1
        }
        return position
    }

    /// Returns the place of the first byte from `start` on that a string may contain only as an escape.
    ///
    /// That is a quote, a backslash or a control character; the end if there is none.
    @inline(__always)
    func endOfUnescapedText(from start: Int) -> Int {
        var position = start
        while position &+ 8 <= count {
            let word = word(at: position)
            let marks = word.marksOfEscapes & ~word & .highBits
            if marks != 0 { return position &+ marks.firstMark }
            position &+= 8
        }
        if position < count, count &- 8 >= start {
            // The last eight bytes, some of which were looked at: those have no mark.
            let word = word(at: count &- 8)
            let marks = word.marksOfEscapes & ~word & .highBits
            return count &- 8 &+ marks.firstMark
        }
        while position < count, !self[position].needsEscape { position &+= 1 }
        return position
    }
}

extension UInt64 {
    fileprivate static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    /// The high bits of those of eight ASCII bytes that are a quote, a backslash or a control character.
    @inline(__always)
    fileprivate var marksOfEscapes: UInt64 {
        let quotes = (self ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
        let backslashes = (self ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
        let controls = self &- 0x2020_2020_2020_2020
        return quotes | backslashes | controls
    }

    /// The number of the first marked byte; 8 where there is none.
    fileprivate var firstMark: Int { trailingZeroBitCount >> 3 }
}

extension UInt8 {
    /// Whether a string holds this byte only as an escape.
    fileprivate var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}
