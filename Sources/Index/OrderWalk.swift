/// A walk along rows in order, range by range, from the start or from behind a position.
///
/// Rows are stored ascending by value, then by id. Ascending, they are walked as they are stored; descending, value by
/// value from behind, and each value's rows as they are stored, since ids are ascending either way. Rows without a
/// value come last.
struct OrderWalk {
    private let order: SortedRows
    private let descending: Bool
    /// Whether a value's rows are wanted by themselves, to be put in order by further keys.
    private let isSplit: Bool

    /// The range to begin with, where that is within a value's rows.
    private var first: Range<Int>?
    /// The rest of the rows; descending, the rest of the rows with a value.
    private var rest: Range<Int>
    /// Descending, the rows without a value, until they are walked.
    private var missing: Range<Int>

    init(_ order: SortedRows, descending: Bool, isSplit: Bool) {
        self.order = order
        self.descending = descending
        self.isSplit = isSplit
        let count = order.count
        let present = descending ? order.firstPlace { order.hasValue($0) } : count
        rest = 0..<present
        missing = present..<count
    }

    /// Moves to the first row that may come behind a position.
    ///
    /// `byValue` compares a row with the position by the first key, in the direction of the walk, and `byAll` by all
    /// keys and the id. If the rows of one value are split off, some of them may still come before the position.
    mutating func seek(byValue: (Int) -> Int, byAll: (Int) -> Int) {
        guard descending else {
            let start = order.firstPlace { isSplit ? byValue($0) < 0 : byAll($0) <= 0 }
            rest = start..<rest.upperBound
            return
        }
        if !missing.isEmpty, byValue(order.row(at: missing.lowerBound)) == 0 {
            // It is among the rows without a value.
            if !isSplit {
                let start = order.firstPlace { order.hasValue($0) || byAll($0) <= 0 }
                missing = start..<missing.upperBound
            }
            rest = 0..<0
            return
        }
        let lower = order.firstPlace { order.hasValue($0) && byValue($0) > 0 }
        let upper = order.firstPlace { order.hasValue($0) && byValue($0) >= 0 }
        let start =
            isSplit
            ? lower
            : order.firstPlace {
                order.hasValue($0) && (byValue($0) > 0 || byValue($0) == 0 && byAll($0) <= 0)
            }
        first = start..<upper
        rest = 0..<lower
    }

    /// The next range; nil at the end.
    mutating func next() -> Range<Int>? {
        if let range = first {
            first = nil
            if !range.isEmpty { return range }
        }
        if rest.isEmpty {
            defer { missing = missing.upperBound..<missing.upperBound }
            return missing.isEmpty ? nil : missing
        }
        guard descending || isSplit else {
            defer { rest = rest.upperBound..<rest.upperBound }
            return rest
        }
        let range = descending ? startOfLast()..<rest.upperBound : rest.lowerBound..<endOfFirst()
        rest = descending ? 0..<range.lowerBound : range.upperBound..<rest.upperBound
        return range
    }

    /// Returns the place where the rows with the last value begin, which is often near.
    private func startOfLast() -> Int {
        let last = order.row(at: rest.upperBound - 1)
        for place in stride(from: rest.upperBound - 2, through: max(0, rest.upperBound - 8), by: -1)
        where order.compareValues(order.row(at: place), last) != 0 {
            return place + 1
        }
        return order.firstPlace { order.compareValues($0, last) < 0 }
    }

    private func endOfFirst() -> Int {
        let first = order.row(at: rest.lowerBound)
        return order.firstPlace { order.compareValues($0, first) <= 0 }
    }
}
