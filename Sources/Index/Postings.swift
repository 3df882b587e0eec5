/// The rows that have one value: a number while there is one, a sorted list while they are few, a
/// bitset once that is smaller.
///
/// A field with a million different values so costs eight bytes for each, and one with ten costs
/// ten bitsets.
struct Postings {
    private enum Form {
        case none
        case one(UInt32)
        /// Two at least.
        case few(ContiguousArray<UInt32>)
        case many(CountedRows)
    }

    /// A bitset that knows how many rows are in it.
    private final class CountedRows {
        var rows: Bitset
        var count: Int

        init(_ rows: Bitset, count: Int) { (self.rows, self.count) = (rows, count) }

        func insert(_ row: Int) {
            rows.insert(row)
            count += 1
        }

        func remove(_ row: Int) {
            rows.remove(row)
            count -= 1
        }
    }

    private var form = Form.none

    /// The number of rows.
    var count: Int {
        switch form {
        case .none: 0
        case .one: 1
        case .few(let rows): rows.count
        case .many(let many): many.count
        }
    }

    /// Inserts a row; a row that is in it already changes nothing.
    mutating func insert(_ row: Int) {
        switch form {
        case .none: form = .one(UInt32(row))
        case .one(let only):
            guard only != row else { return }
            form = .few([min(only, UInt32(row)), max(only, UInt32(row))])
        case .few(var rows):
            form = .none
            let isNew = rows.insertSorted(UInt32(row))
            form = .few(rows)
            if isNew { thicken(rows) }
        case .many:
            guard !contains(row) else { return }
            changeMany { $0.insert(row) }
        }
    }

    /// Leaves a row out; one that is not in it changes nothing.
    mutating func remove(_ row: Int) {
        switch form {
        case .none: break
        case .one(let only): if only == row { form = .none }
        case .few(var rows):
            guard let index = rows.indexOfSorted(UInt32(row)) else { return }
            form = .none
            rows.remove(at: index)
            form = rows.count == 1 ? .one(rows[0]) : .few(rows)
        case .many:
            guard contains(row) else { return }
            changeMany { $0.remove(row) }
        }
    }

    /// Changes the bitset: itself, or a copy where other postings have it, too.
    private mutating func changeMany(_ body: (CountedRows) -> Void) {
        guard case .many(var many) = form else { return }
        form = .none
        if !isKnownUniquelyReferenced(&many) { many = CountedRows(many.rows, count: many.count) }
        body(many)
        form = .many(many)
        thinOut(many)
    }

    /// The row, where it is the only one.
    @inline(__always)
    var only: Int? { if case .one(let only) = form { Int(only) } else { nil } }

    /// Returns the number of the rows that are in the set.
    func count(in rows: Bitset) -> Int {
        switch form {
        case .none: return 0
        case .one(let only): return rows.contains(Int(only)) ? 1 : 0
        case .many(let many): return many.rows.intersectionCount(rows)
        case .few(let few):
            return rows.words.withUnsafeBufferPointer { words in
                var sum = 0
                for row in few where Int(row >> 6) < words.count {
                    sum &+= Int(truncatingIfNeeded: words[Int(row >> 6)] >> UInt64(row & 63) & 1)
                }
                return sum
            }
        }
    }

    /// The number of rows, or of words of 64 rows, that ``count(in:)`` reads.
    var looks: Int {
        switch form {
        case .none, .one: 1
        case .few(let few): few.count
        case .many(let many): many.rows.words.count
        }
    }

    /// Adds the rows to the set.
    @inline(__always)
    func formUnion(into rows: inout Bitset) {
        switch form {
        case .none: break
        case .one(let only): rows.insert(Int(only))
        case .few(let few): for row in few { rows.insert(Int(row)) }
        case .many(let many): rows.formUnion(many.rows)
        }
    }

    /// The rows as a set.
    var bitset: Bitset {
        if case .many(let many) = form { return many.rows }
        var rows = Bitset()
        visit { rows.insert($0) }
        return rows
    }

    /// Calls the body with each row, ascending.
    @inline(__always)
    func visit(_ body: (Int) -> Void) {
        switch form {
        case .none: break
        case .one(let only): body(Int(only))
        case .few(let rows): for row in rows { body(Int(row)) }
        case .many(let many): many.rows.visit(body)
        }
    }

    /// Whether a row is among them.
    func contains(_ row: Int) -> Bool {
        switch form {
        case .none: false
        case .one(let only): only == row
        case .few(let rows): rows.indexOfSorted(UInt32(row)) != nil
        case .many(let many): many.rows.contains(row)
        }
    }

    /// Calls the body with the rows in a range, ascending.
    func visit(in range: Range<Int>, _ body: (Int) -> Void) {
        guard case .many(let many) = form else {
            return visit { if range.contains($0) { body($0) } }
        }
        let rows = many.rows
        let end = min(range.upperBound, rows.words.count * 64)
        for row in range.lowerBound..<max(range.lowerBound, end) where rows.contains(row) {
            body(row)
        }
    }

    /// A list takes 32 bits a row, a bitset one bit for each row there may be.
    private mutating func thicken(_ rows: ContiguousArray<UInt32>) {
        guard rows.count > 128, rows.count * 32 > Int(rows[rows.count - 1]) else { return }
        var many = Bitset()
        for row in rows { many.insert(Int(row)) }
        form = .many(CountedRows(many, count: rows.count))
    }

    /// Changes back to a list, at a number of rows well below that at which it became a bitset, so that it does not
    /// alternate.
    private mutating func thinOut(_ many: CountedRows) {
        guard many.count < 64 || many.count * 128 < many.rows.words.count * 64 else { return }
        var rows: ContiguousArray<UInt32> = []
        rows.reserveCapacity(many.count)
        many.rows.visit { rows.append(UInt32($0)) }
        form = rows.count > 1 ? .few(rows) : rows.first.map(Form.one) ?? .none
    }
}

extension ContiguousArray<UInt32> {
    /// Inserts an element at its place, unless it is there already; returns whether it was inserted.
    fileprivate mutating func insertSorted(_ element: UInt32) -> Bool {
        if element > self[count - 1] {
            append(element)
            return true
        }
        let index = lowerBound(of: element)
        guard self[index] != element else { return false }
        insert(element, at: index)
        return true
    }

    fileprivate func indexOfSorted(_ element: UInt32) -> Int? {
        let index = lowerBound(of: element)
        return index < count && self[index] == element ? index : nil
    }

    /// Returns the index of the first element that is not less than this one.
    private func lowerBound(of element: UInt32) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
