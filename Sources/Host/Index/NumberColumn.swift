import AtriumKit

/// The values of a field that orders as a number does, for each row: `number`, `integer`,
/// `duration`, `boolean` (0 or 1), `time` (seconds since 1970) and what is derived from votes and
/// comments.
///
/// Whole numbers beyond 2^53 are compared as the nearest `Double`.
final class NumberColumn {
    /// Grows with each distinct number that comes or goes, from the first time they are asked for.
    private(set) var version: UInt64 = 0
    /// Each row's number, NaN where it has none.
    private(set) var numbers: ContiguousArray<Double> = []

    private let type: Field.FieldType
    /// The rows of each distinct number: kept from the first time that somebody asks, since most
    /// numbers are compared and never listed.
    private var postings: [Double: Postings]?

    /// A column for a field of this type.
    init(type: Field.FieldType) {
        self.type = type
    }

    /// Makes a row's value this one; what is not of the column's type counts as none.
    func set(_ value: Value?, row: Int) {
        set(value.flatMap(number), row: row)
    }

    /// Makes a row's number this one.
    func set(_ number: Double?, row: Int) {
        // Adding 0 makes 0 of -0, which would otherwise be a value of its own.
        let new = number.map { $0 + 0 } ?? .nan
        if row >= numbers.count {
            guard number != nil else { return }
            numbers.append(contentsOf: repeatElement(.nan, count: row + 1 - numbers.count))
        }
        let old = numbers[row]
        guard old != new, !(old.isNaN && new.isNaN) else { return }
        numbers[row] = new
        if postings != nil { move(row, from: old, to: new) }
    }

    /// A row's number; nil where it has none.
    func number(of row: Int) -> Double? {
        guard row < numbers.count, !numbers[row].isNaN else { return nil }
        return numbers[row]
    }

    /// The number that a field's value stands for in this column; nil where it is none.
    func number(_ value: Value) -> Double? {
        switch type {
        case .boolean: value.bool.map { $0 ? 1 : 0 }
        case .time: value.text.flatMap(TimeText.seconds)
        default: value.number.flatMap { $0.isFinite ? $0 : nil }
        }
    }

    /// The value that a number of this column stands for, in canonical form.
    func value(_ number: Double) -> Value {
        switch type {
        case .boolean: .bool(number != 0)
        case .time: .text(TimeText.text(seconds: number))
        default: Int64(exactly: number).map(Value.int) ?? .number(number)
        }
    }

    /// The rows that have this number.
    func rows(equalTo number: Double) -> Postings? {
        startListing()
        return postings?[number + 0]
    }

    /// The distinct numbers, ascending.
    var sortedNumbers: [Double] {
        startListing()
        return postings?.keys.sorted() ?? []
    }

    /// Keeps the distinct numbers, and ``version``, from now on.
    func startListing() {
        guard postings == nil else { return }
        postings = [:]
        for row in numbers.indices where !numbers[row].isNaN {
            postings?[numbers[row], default: Postings()].insert(row)
        }
    }

    /// The rows that have any number.
    func rowsWithValue(below end: Int) -> Bitset {
        Bitset(below: min(end, numbers.count)) { !numbers[$0].isNaN }
    }

    /// The rows whose number is in the range.
    func rows(in range: NumberRange) -> Bitset {
        numbers.withUnsafeBytes { numbers in
            let count = numbers.count / MemoryLayout<Double>.stride
            return Bitset(wordCount: (count + 63) / 64) { index in
                let (first, last) = (index * 64, min(index * 64 + 64, count))
                guard last - first == 64 else {
                    return range.bits(numbers.bindMemory(to: Double.self)[first..<last])
                }
                return range.bits(of64: numbers, from: first)
            }
        }
    }

    private func move(_ row: Int, from old: Double, to new: Double) {
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
    private let lower: Double
    private let upper: Double

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

    /// A bit for each of up to 64 numbers, the lowest for the first.
    func bits(_ numbers: Slice<UnsafeBufferPointer<Double>>) -> UInt64 {
        var bits: UInt64 = 0
        for (index, number) in numbers.enumerated() where contains(number) {
            bits |= 1 << UInt64(index)
        }
        return bits
    }

    /// A bit for each of 64 numbers, judged eight at a time: comparisons without a branch, since no
    /// processor can guess which way they go.
    @inline(__always)
    func bits(of64 numbers: UnsafeRawBufferPointer, from first: Int) -> UInt64 {
        let places = SIMD8<UInt64>(1, 2, 4, 8, 16, 32, 64, 128)
        var bits: UInt64 = 0
        for eight in 0..<8 {
            let values = numbers.loadUnaligned(
                fromByteOffset: (first + eight * 8) * MemoryLayout<Double>.stride,
                as: SIMD8<Double>.self)
            let isMember = (values .>= lower) .& (values .<= upper)
            let byte = SIMD8<UInt64>.zero.replacing(with: places, where: isMember).wrappedSum()
            bits |= byte &<< UInt64(eight * 8)
        }
        return bits
    }
}
