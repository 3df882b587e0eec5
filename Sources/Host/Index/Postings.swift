/// The rows that have one value: a number while there is one, a sorted list while they are few, a
/// bitset once that is smaller.
///
/// A field with a million different values so costs a million small structs, and one with ten
/// costs ten bitsets.
struct Postings {
    /// How many rows.
    private(set) var count = 0
    private var only: UInt32 = 0
    private var few: ContiguousArray<UInt32> = []
    private var many = Bitset()

    /// What counting or collecting the rows costs, in steps of about a nanosecond.
    var cost: Int { isDense ? many.words.count : count }

    private var isDense: Bool { !many.words.isEmpty }

    /// Takes a row in; one that is in it already changes nothing.
    mutating func insert(_ row: Int) {
        if isDense {
            guard !many.contains(row) else { return }
            many.insert(row)
            count += 1
            thinOut()
        } else if count == 0 {
            only = UInt32(row)
            count = 1
        } else {
            insertSparse(UInt32(row))
        }
    }

    /// Leaves a row out; one that is not in it changes nothing.
    mutating func remove(_ row: Int) {
        if isDense {
            guard many.contains(row) else { return }
            many.remove(row)
            count -= 1
            thinOut()
        } else if count == 1 {
            if only == UInt32(row) { count = 0 }
        } else if let index = few.indexOfSorted(UInt32(row)) {
            few.remove(at: index)
            count -= 1
            guard count == 1 else { return }
            only = few[0]
            few = []
        }
    }

    /// How many of the rows are in the set.
    func count(in rows: Bitset) -> Int {
        if isDense { return many.intersectionCount(rows) }
        if count <= 1 { return count == 1 && rows.contains(Int(only)) ? 1 : 0 }
        return rows.words.withUnsafeBufferPointer { words in
            var sum = 0
            for row in few where Int(row >> 6) < words.count {
                sum &+= Int(truncatingIfNeeded: words[Int(row >> 6)] >> UInt64(row & 63) & 1)
            }
            return sum
        }
    }

    /// Takes the rows into the set.
    func formUnion(into rows: inout Bitset) {
        if isDense { rows.formUnion(many) } else { visit { rows.insert($0) } }
    }

    /// The rows as a set.
    var bitset: Bitset {
        if isDense { return many }
        var rows = Bitset()
        visit { rows.insert($0) }
        return rows
    }

    /// Hands over each row, ascending.
    func visit(_ body: (Int) -> Void) {
        if isDense {
            many.visit(body)
        } else if count == 1 {
            body(Int(only))
        } else {
            for row in few { body(Int(row)) }
        }
    }

    private mutating func insertSparse(_ row: UInt32) {
        if count == 1 {
            guard only != row else { return }
            few = only < row ? [only, row] : [row, only]
            count = 2
            return
        }
        if row > few[few.count - 1] {
            few.append(row)
        } else {
            let index = few.lowerBound(of: row)
            guard few[index] != row else { return }
            few.insert(row, at: index)
        }
        count += 1
        // A list takes 32 bits a row, a bitset one bit for each row there may be.
        guard count > 128, count * 32 > Int(few[few.count - 1]) else { return }
        for row in few { many.insert(Int(row)) }
        few = []
    }

    /// Goes back to a list well below where it became a bitset, lest it go to and fro.
    private mutating func thinOut() {
        guard count < 64 || count * 128 < many.words.count * 64 else { return }
        var rows: ContiguousArray<UInt32> = []
        rows.reserveCapacity(count)
        many.visit { rows.append(UInt32($0)) }
        many = Bitset()
        only = rows.first ?? 0
        few = rows.count > 1 ? rows : []
    }
}

extension ContiguousArray<UInt32> {
    /// Where the first element stands that is not less than this one.
    fileprivate func lowerBound(of element: UInt32) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    fileprivate func indexOfSorted(_ element: UInt32) -> Int? {
        let index = lowerBound(of: element)
        return index < count && self[index] == element ? index : nil
    }
}
