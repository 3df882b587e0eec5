/// Finds the first few rows of many in an order, without sorting all of them.
///
/// Each row has a key, a number that orders as the first sort key does, so that nearly every row is turned away by one
/// comparison of numbers. Rows that may be among the first are collected; when they are twice as many as wanted, they
/// are sorted and the worse half is dropped.
///
/// It has all rows that were passed to it up to the worst one it holds, and none behind that. A row whose place may
/// have changed is removed before anything is compared again.
struct BestRows {
    private struct Candidate {
        var key: UInt64
        var row: Int32
    }

    /// The approximate number of comparisons of rows.
    private(set) var comparisons = 0
    /// Whether there are rows behind those that it holds.
    private(set) var isCut = false

    private let limit: Int
    private let precedes: (Int, Int) -> Bool
    private var candidates: [Candidate] = []
    private var worst = UInt64.max
    /// The worst row that is held; below 0: it is not known which rows precede those that were turned away.
    private var worstRow = 0

    /// Creates a collector of this many rows, at least one.
    ///
    /// `precedes` is the whole order; it is called if keys are equal.
    init(limit: Int, precedes: @escaping (Int, Int) -> Bool) {
        self.limit = max(limit, 1)
        self.precedes = precedes
    }

    /// The number of rows that it holds.
    var count: Int { candidates.count }

    /// Collects rows from some words of a set.
    ///
    /// `key` returns a row's key. `isWanted` returns whether a row counts at all; it is not called for rows that are
    /// too far behind.
    @inline(__always)
    mutating func collect(
        _ rows: Bitset, words: Range<Int>, key: (Int) -> UInt64, where isWanted: (Int) -> Bool
    ) {
        rows.visit(words: words) { row in
            let key = key(row)
            guard key < worst || key == worst && mayBeAmong(row) else { return }
            comparisons += 1
            if isWanted(row) { append(row, key) }
        }
    }

    /// Sets the first rows in order, and whether there are no others.
    mutating func replaceAll(
        with page: (rows: [Int], isLast: Bool), key: (Int) -> UInt64
    ) {
        candidates = page.rows.map { Candidate(key: key($0), row: Int32($0)) }
        isCut = !page.isLast
        if isCut { noteWorst(candidates.last) }
    }

    /// Inserts a row if it is among the first.
    mutating func insert(_ row: Int, key: UInt64) {
        guard key < worst || key == worst && mayBeAmong(row) else { return }
        append(row, key)
    }

    /// Removes rows.
    mutating func remove(where isGone: (Int) -> Bool) {
        candidates.removeAll { isGone(Int($0.row)) }
        guard isCut, worstRow >= 0, isGone(worstRow) else { return }
        // What was turned away comes behind this one all the more.
        noteWorst(candidates.max(by: order))
    }

    /// The first rows, in order, and whether there are no others.
    mutating func finish() -> (rows: [Int], isLast: Bool) {
        candidates.sort(by: order)
        let isLast = !isCut && candidates.count <= limit
        return (candidates.prefix(limit).map { Int($0.row) }, isLast)
    }

    /// Whether a row with the worst key comes before the worst row: many rows may share that key.
    private mutating func mayBeAmong(_ row: Int) -> Bool {
        guard isCut else { return true }
        comparisons += 1
        return worstRow >= 0 && precedes(row, worstRow)
    }

    private mutating func append(_ row: Int, _ key: UInt64) {
        candidates.append(Candidate(key: key, row: Int32(row)))
        guard candidates.count >= max(limit * 2, 256) else { return }
        candidates.sort(by: order)
        comparisons += candidates.count * (Int.bitWidth - candidates.count.leadingZeroBitCount)
        candidates.removeLast(candidates.count - limit)
        isCut = true
        noteWorst(candidates.last)
    }

    private mutating func noteWorst(_ last: Candidate?) {
        (worst, worstRow) = last.map { ($0.key, Int($0.row)) } ?? (0, -1)
    }

    private var order: (Candidate, Candidate) -> Bool {
        { [precedes] one, other in
            one.key == other.key
                ? precedes(Int(one.row), Int(other.row)) : one.key < other.key
        }
    }
}
