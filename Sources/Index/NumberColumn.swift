import AtriumKit
import CBits

/// The values of a field that orders as a number does, for each row.
///
/// These are the types `number`, `integer`, `duration`, `boolean` (0 or 1), `time` (seconds since 1970) and `date` (as
/// the time of its midnight in UTC), and values derived from votes and comments.
///
/// Whole numbers beyond 2^53 are compared as the nearest `Double`.
final class NumberColumn {
    /// A version that grows with each distinct number that is added or removed, once the numbers were listed.
    private(set) var version: UInt64 = 0
    /// The number of each row, NaN for a row without one.
    var numbers: ContiguousArray<Double> {
        writeZeros()
        return stored
    }

    /// The number of rows that may have a number.
    var rowCount: Int { stored.isEmpty ? zerosEnd : stored.count }

    private var stored: ContiguousArray<Double> = []
    /// The rows that have 0, none of which is in ``stored``, while no row has another number.
    ///
    /// Most lists have no votes or no comments, and nobody sorts them by that.
    private var zeros = Bitset()
    /// One more than the greatest row that was in ``zeros``; 0 once they are in ``stored``.
    private var zerosEnd = 0

    /// Grows with each row that takes or loses a number.
    private var changes: UInt64 = 0
    var cut = CutValues()

    private let type: Field.FieldType
    /// The rows of each distinct number; nil until they are first needed, since most numbers are compared and never
    /// listed.
    private var postings: [Double: Postings]?
    /// The row up to which numbers are listed.
    private var listed = 0
    /// The codes by which rows are counted, from the first count on, while the distinct numbers are few.
    private var codes: ByteCodes?

    init(type: Field.FieldType) {
        self.type = type
    }

    /// Sets a row's value; a value that is not of the column's type counts as none.
    func set(_ value: Value?, row: Int) {
        set(value.flatMap(number), row: row)
    }

    func set(_ number: Double?, row: Int) {
        // Adding 0 makes 0 of -0, which would otherwise be a value of its own.
        let new = number.map { $0 + 0 } ?? .nan
        if stored.isEmpty {
            if setZero(new, row: row) { return }
            writeZeros()
        }
        if row >= stored.count {
            guard number != nil else { return }
            stored.append(contentsOf: repeatElement(.nan, count: row + 1 - stored.count))
        }
        let old = stored[row]
        guard old != new, !(old.isNaN && new.isNaN) else { return }
        stored[row] = new
        if row < listed { move(row, from: old, to: new) }
        if codes?.set(new, row: row) == false { codes = nil }
    }

    /// Reserves room for this many rows.
    func reserve(_ rows: Int) { stored.reserveCapacity(rows) }

    /// Makes these the numbers of the next rows, NaN where one has none: for a new column.
    func append(_ more: some Collection<Double>) {
        writeZeros()
        stored.append(contentsOf: more)
    }

    /// Sets the number of the next `count` rows to 0, for a new column.
    func appendZeros(_ count: Int) {
        guard stored.isEmpty else { return append(repeatElement(0, count: count)) }
        for row in zerosEnd..<zerosEnd + count { zeros.insert(row) }
        zerosEnd += count
    }

    @inline(__always)
    func withNumbers<R>(_ body: (UnsafeBufferPointer<Double>) -> R) -> R {
        writeZeros()
        return stored.withUnsafeBufferPointer(body)
    }

    /// Sets a row's number to 0, or to none, while no row has another number; false: it is another number.
    private func setZero(_ number: Double, row: Int) -> Bool {
        // Once numbers are listed, each is to be written there, too.
        guard postings == nil else { return false }
        if number == 0 {
            zeros.insert(row)
            zerosEnd = max(zerosEnd, row + 1)
        } else {
            guard number.isNaN else { return false }
            zeros.remove(row)
        }
        return true
    }

    /// Writes the zeros to the array of all numbers.
    @inline(__always)
    private func writeZeros() {
        guard zerosEnd > 0 else { return }
        stored = ContiguousArray(
            (0..<zerosEnd).lazy.map { [zeros] in zeros.contains($0) ? 0 : .nan })
        zeros = Bitset()
        zerosEnd = 0
    }

    /// Whether two numbers are the same, or neither is one.
    static func isSame(_ one: Double?, _ other: Double?) -> Bool {
        one == other
    }

    /// A row's number; nil where it has none.
    func number(of row: Int) -> Double? {
        guard row < stored.count else { return zeros.contains(row) ? 0 : nil }
        let number = stored[row]
        return number.isNaN ? nil : number
    }

    /// Returns the number that a field's value stands for in this column; nil if it stands for none.
    func number(_ value: Value) -> Double? {
        switch type {
        case .boolean: value.bool.map { $0 ? 1 : 0 }
        case .time: value.text.flatMap(TimeText.seconds)
        case .image: nil
        // It is derived as a number, and asked for as a text.
        case .date: value.text.flatMap(TimeText.seconds) ?? value.number
        default: value.number.flatMap { $0.isFinite ? $0 : nil }
        }
    }

    /// Returns the value that a number of this column stands for, in canonical form.
    func value(_ number: Double) -> Value {
        switch type {
        case .boolean: .bool(number != 0)
        case .time, .date: .text(TimeText.text(seconds: number))
        default: Int64(exactly: number).map(Value.int) ?? .number(number)
        }
    }

    func rows(equalTo number: Double) -> Postings? {
        startListing()
        return postings?[number + 0]
    }

    /// Returns, for each of these numbers, how many of the rows have it, by one pass over the rows.
    ///
    /// It is meant for few rows. Nil if there are too many distinct numbers.
    func counts(of wanted: [Double], in rows: Bitset) -> [Int]? {
        if codes == nil {
            startListing()
            guard let postings, postings.count <= ByteCodes.capacity else { return nil }
            codes = ByteCodes(postings, below: stored.count)
        }
        return codes?.counts(of: wanted.map { $0 + 0 }, in: rows)
    }

    /// The distinct numbers, ascending.
    var sortedNumbers: [Double] {
        startListing()
        return postings?.keys.sorted() ?? []
    }

    /// The number of distinct numbers.
    var valueCount: Int {
        startListing()
        return postings?.count ?? 0
    }

    /// Returns the number of rows with a listed number; nil: none has it.
    func count(of number: Double) -> Int? { postings?[number]?.count }

    /// A version that changes when the numbers that most rows have have to be found again.
    var cutVersion: UInt64 { cut.version(after: changes, ofValues: valueCount) }

    /// The number of rows to be listed before the distinct numbers are known.
    var unlistedCount: Int { max(rowCount - listed, 0) }

    /// Lists the distinct numbers, and keeps them and ``version`` up to date from now on.
    func startListing() { while list(atMost: .max) {} }

    /// Lists some more rows; returns false if all are listed, and later changes are listed at once.
    func list(atMost count: Int) -> Bool {
        if postings == nil { postings = [:] }
        guard listed < .max else { return false }
        writeZeros()
        let isLast = stored.count - listed <= count
        let end = isLast ? stored.count : listed + count
        for row in listed..<end where !stored[row].isNaN {
            postings?[stored[row], default: Postings()].insert(row)
        }
        listed = isLast ? .max : end
        return !isLast
    }

    /// Whether a row is found under its number, as far as numbers are listed.
    func lists(_ row: Int) -> Bool {
        guard row < listed, let postings, let number = number(of: row) else { return true }
        return postings[number]?.contains(row) ?? false
    }

    func rowsWithValue(below end: Int) -> Bitset {
        guard zerosEnd == 0 else { return zeros.part(0..<min(end, zerosEnd)) }
        return Bitset(below: min(end, stored.count)) { !stored[$0].isNaN }
    }

    func rows(in range: NumberRange) -> Bitset { rows(in: range, among: 0..<rowCount) }

    /// Returns the rows of a part that have a number in the range, with the first row of the part as row 0.
    func rows(in range: NumberRange, among rows: Range<Int>) -> Bitset {
        guard zerosEnd == 0 else { return range.contains(0) ? zeros.part(rows) : Bitset() }
        return stored.withUnsafeBufferPointer { numbers in
            let numbers = UnsafeBufferPointer(rebasing: numbers[rows])
            return Bitset(wordCount: (numbers.count + 63) / 64) { words in
                bits_in_range(
                    numbers.baseAddress, numbers.count, range.lower, range.upper, words.baseAddress)
            }
        }
    }

    private func move(_ row: Int, from old: Double, to new: Double) {
        changes += 1
        if !old.isNaN {
            postings?[old]?.remove(row)
            if postings?[old]?.count == 0 {
                postings?[old] = nil
                version += 1
            }
        }
        if !new.isNaN {
            if postings?[new] == nil { version += 1 }
            postings?[new, default: Postings()].insert(row)
        }
    }
}

/// A range of numbers, either end open, included or not.
struct NumberRange: Hashable {
    /// The least number in it.
    let lower: Double
    /// The greatest number in it.
    let upper: Double

    /// The numbers between two bounds; nil is open.
    init(lower: Predicate.Bound?, upper: Predicate.Bound?) {
        guard lower?.value.isNaN != true, upper?.value.isNaN != true else {
            // Nothing is beside what is not a number; and it would not equal itself as a key.
            (self.lower, self.upper) = (.infinity, -.infinity)
            return
        }
        // An end that is not included is the neighbour that is: two comparisons without a branch.
        self.lower = lower.map { $0.isIncluded ? $0.value : $0.value.nextUp } ?? -.infinity
        self.upper = upper.map { $0.isIncluded ? $0.value : $0.value.nextDown } ?? .infinity
    }

    /// Whether a number is in it; NaN never is.
    @inline(__always)
    func contains(_ number: Double) -> Bool {
        number >= lower && number <= upper
    }
}

extension Double {
    /// The number as an unsigned one that orders as it does.
    var orderedBits: UInt64 { bitPattern >> 63 == 0 ? bitPattern | 1 << 63 : ~bitPattern }
}
