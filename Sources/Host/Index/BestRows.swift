/// Finds the first few rows of many in an order, without sorting the many.
///
/// Each row has a key, a number that orders as the first sort key does, so that nearly every row is
/// turned away by one comparison of numbers. Those that may be among the first are gathered; when
/// they are twice as many as wanted, they are sorted and the worse half is dropped.
struct BestRows {
    private struct Candidate {
        var key: UInt64
        var row: Int32
    }

    private let limit: Int
    private let precedes: (Int, Int) -> Bool
    private var candidates: [Candidate] = []
    private var worst = UInt64.max
    private var worstRow = 0
    private var isCut = false

    /// Finds this many rows, at least one.
    ///
    /// `precedes` is the whole order, asked where keys are the same.
    init(limit: Int, precedes: @escaping (Int, Int) -> Bool) {
        self.limit = max(limit, 1)
        self.precedes = precedes
    }

    /// Looks at rows: `key` is a row's key, `isWanted` says whether it counts at all, and is not
    /// asked of rows that are too far behind.
    @inline(__always)
    mutating func collect(_ rows: Bitset, key: (Int) -> UInt64, where isWanted: (Int) -> Bool) {
        let capacity = max(limit * 2, 256)
        rows.visit { row in
            let key = key(row)
            guard key < worst || key == worst && mayBeAmong(row), isWanted(row) else { return }
            candidates.append(Candidate(key: key, row: Int32(row)))
            if candidates.count == capacity { cut() }
        }
    }

    /// The first rows, in order, and whether there are no others.
    mutating func finish() -> (rows: [Int], isLast: Bool) {
        sort()
        let isLast = !isCut && candidates.count <= limit
        return (candidates.prefix(limit).map { Int($0.row) }, isLast)
    }

    /// Whether a row with the worst key comes before the worst row: many rows may share that key.
    private func mayBeAmong(_ row: Int) -> Bool {
        !isCut || precedes(row, worstRow)
    }

    private mutating func cut() {
        sort()
        candidates.removeLast(candidates.count - limit)
        worst = candidates[limit - 1].key
        worstRow = Int(candidates[limit - 1].row)
        isCut = true
    }

    private mutating func sort() {
        candidates.sort { one, other in
            one.key == other.key
                ? precedes(Int(one.row), Int(other.row)) : one.key < other.key
        }
    }
}
