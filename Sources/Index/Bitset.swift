import CBits

/// A set of rows, one bit each.
///
/// Rows are small, dense numbers, so that a set of a million is 125 KB, and narrowing one by
/// another is one `and` for 64 rows.
struct Bitset {
    private(set) var words: ContiguousArray<UInt64> = []

    init() {}

    /// All rows below `end`.
    init(below end: Int) {
        words = ContiguousArray(repeating: ~0, count: (end + 63) / 64)
        if end % 64 != 0 { words[words.count - 1] = (1 << UInt64(end % 64)) - 1 }
    }

    /// The rows below `end` for which `isMember` returns true.
    @inline(__always)
    init(below end: Int, where isMember: (Int) -> Bool) {
        self.init(wordCount: (end + 63) / 64) { words in
            for row in 0..<end {
                words[row >> 6] |= (isMember(row) ? 1 : 0) &<< UInt64(row & 63)
            }
        }
    }

    /// Creates a set 64 rows at a time: the lowest bit of word `i` is row `64 * i`.
    init(wordCount: Int, fill: (UnsafeMutableBufferPointer<UInt64>) -> Void) {
        words = ContiguousArray(unsafeUninitializedCapacity: wordCount) { words, count in
            words.initialize(repeating: 0)
            fill(words)
            count = wordCount
        }
    }

    /// The number of rows in the set.
    var count: Int {
        words.withUnsafeBufferPointer { bits_count($0.baseAddress, $0.count) }
    }

    /// Whether a row is in it.
    func contains(_ row: Int) -> Bool {
        let index = row >> 6
        return index < words.count && words[index] & (1 << UInt64(row & 63)) != 0
    }

    mutating func insert(_ row: Int) {
        let index = row >> 6
        if index >= words.count {
            words.append(contentsOf: repeatElement(0, count: index + 1 - words.count))
        }
        words[index] |= 1 << UInt64(row & 63)
    }

    /// Inserts the rows with which `visit` calls its body; the set must have room for them.
    @inline(__always)
    mutating func insert(_ visit: ((Int) -> Void) -> Void) {
        words.withUnsafeMutableBufferPointer { words in
            visit { row in words[row >> 6] |= 1 << UInt64(row & 63) }
        }
    }

    /// Makes room for all rows below `end` at once.
    mutating func reserve(_ end: Int) {
        let missing = (end + 63) / 64 - words.count
        if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
    }

    /// Returns the members within a range of rows, with the first row of the range as row 0.
    func part(_ rows: Range<Int>) -> Bitset {
        guard rows.lowerBound % 64 == 0 else {
            return Bitset(below: rows.count) { contains(rows.lowerBound + $0) }
        }
        let first = rows.lowerBound / 64
        let count = min((rows.upperBound + 63) / 64, words.count) - first
        guard count > 0 else { return Bitset() }
        var part = Bitset()
        part.words = ContiguousArray(words[first..<first + count])
        if rows.count < count * 64 { part.words[count - 1] &= (1 << UInt64(rows.count % 64)) - 1 }
        return part
    }

    /// Adds the rows of a set whose first row is `start`, behind all present members; both end on a whole word, or are
    /// the last.
    mutating func append(_ other: Bitset, from start: Int) {
        let missing = start / 64 - words.count
        if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
        words.append(contentsOf: other.words)
    }

    /// Leaves a row out.
    mutating func remove(_ row: Int) {
        let index = row >> 6
        if index < words.count { words[index] &= ~(1 << UInt64(row & 63)) }
    }

    /// Inserts a row, or removes it.
    mutating func set(_ row: Int, to isMember: Bool) {
        if isMember { insert(row) } else { remove(row) }
    }

    /// Keeps only the rows that are in the other set, too.
    mutating func formIntersection(_ other: Bitset) {
        if words.count > other.words.count { words.removeLast(words.count - other.words.count) }
        combine(other, over: words.count) { $0 & $1 }
    }

    /// Adds the rows of the other set.
    mutating func formUnion(_ other: Bitset) {
        if words.count < other.words.count {
            words.append(contentsOf: repeatElement(0, count: other.words.count - words.count))
        }
        combine(other, over: other.words.count) { $0 | $1 }
    }

    /// Removes the rows of the other set.
    mutating func subtract(_ other: Bitset) {
        combine(other, over: min(words.count, other.words.count)) { $0 & ~$1 }
    }

    /// Returns the number of rows that are in both sets, without building a set.
    func intersectionCount(_ other: Bitset) -> Int {
        words.withUnsafeBufferPointer { left in
            other.words.withUnsafeBufferPointer { right in
                bits_count_and(left.baseAddress, right.baseAddress, min(left.count, right.count))
            }
        }
    }

    /// Calls the body with each row, ascending.
    @inline(__always)
    func visit(_ body: (Int) -> Void) { visit(words: 0..<words.count, body) }

    /// Calls the body with each row of some words, ascending; a word has 64 rows.
    @inline(__always)
    func visit(words range: Range<Int>, _ body: (Int) -> Void) {
        words.withUnsafeBufferPointer { words in
            for index in range {
                var word = words[index]
                while word != 0 {
                    body(index << 6 | word.trailingZeroBitCount)
                    word &= word &- 1
                }
            }
        }
    }

    @inline(__always)
    private mutating func combine(
        _ other: Bitset, over count: Int, _ operation: (UInt64, UInt64) -> UInt64
    ) {
        words.withUnsafeMutableBufferPointer { left in
            other.words.withUnsafeBufferPointer { right in
                for index in 0..<count { left[index] = operation(left[index], right[index]) }
            }
        }
    }
}
