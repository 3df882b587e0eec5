/// The number of each row as one byte, for a column with few distinct numbers.
///
/// Counting the rows with each number then reads one byte of memory for a row, and not a set or a list of rows for each
/// number. There is room for further numbers; a number that no row has any more keeps its byte.
struct ByteCodes {
    /// Distinct numbers that it is made for, half of those that it has room for.
    static let capacity = 127

    /// 0 for a row without a number.
    private var codes: ContiguousArray<UInt8>
    private var known: [Double: UInt8] = [:]

    /// The codes of at most ``capacity`` distinct numbers, each with its rows, all below `end`.
    init(_ numbers: [Double: Postings], below end: Int) {
        codes = ContiguousArray(repeating: 0, count: end)
        for (number, rows) in numbers {
            let code = UInt8(truncatingIfNeeded: known.count + 1)
            known[number] = code
            codes.withUnsafeMutableBufferPointer { codes in rows.visit { codes[$0] = code } }
        }
    }

    /// Makes a row's number this one, NaN for none; returns whether there was room for it.
    mutating func set(_ number: Double, row: Int) -> Bool {
        if row >= codes.count {
            codes.append(contentsOf: repeatElement(0, count: row + 1 - codes.count))
        }
        if number.isNaN {
            codes[row] = 0
            return true
        }
        if known[number] == nil {
            guard known.count < UInt8.max else { return false }
            known[number] = UInt8(known.count + 1)
        }
        codes[row] = known[number] ?? 0
        return true
    }

    /// Returns, for each of these numbers, how many of the rows have it.
    func counts(of numbers: [Double], in rows: Bitset) -> [Int] {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { counts in
            counts.initialize(repeating: 0)
            codes.withUnsafeBufferPointer { codes in
                rows.visit { row in
                    if row < codes.count { counts[Int(codes[row])] &+= 1 }
                }
            }
            return numbers.map { number in known[number].map { counts[Int($0)] } ?? 0 }
        }
    }
}
