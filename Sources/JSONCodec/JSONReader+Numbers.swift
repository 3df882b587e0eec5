extension JSONReader {
    /// Reads an integer.
    ///
    /// - Throws: ``JSONError`` for another kind of value, for a fraction or an exponent (also `3.0`),
    ///   and beyond the range of `Int`.
    public mutating func readInt() throws(JSONError) -> Int {
        let number = try scanNumber(expected: "an integer")
        guard number.isInteger else {
            throw error(
                .value, expected: "an integer without a fraction or an exponent",
                found: number.text(in: bytes), at: number.start)
        }
        guard let value = number.integer else {
            throw error(
                .value, expected: "an integer from \(Int.min) to \(Int.max)",
                found: "one beyond it", at: number.start)
        }
        return value
    }

    /// Reads a number, rounded to the nearest `Double`.
    ///
    /// - Throws: ``JSONError`` for another kind of value, and beyond the range of `Double`.
    public mutating func readDouble() throws(JSONError) -> Double {
        let number = try scanNumber(expected: "a number")
        guard let value = number.double(in: bytes) else { throw rangeError(number) }
        return value
    }

    /// Reads a number: as an integer if it is written as one and fits, otherwise as a `Double`.
    mutating func readNumber() throws(JSONError) -> JSONValue {
        let number = try scanNumber(expected: "a number")
        if number.isInteger, let value = number.integer { return .int(Int64(value)) }
        guard let value = number.double(in: bytes) else { throw rangeError(number) }
        return .double(value)
    }

    /// Consumes a number that is passed on as text.
    mutating func skipNumber() throws(JSONError) {
        let number = try scanNumber(expected: "a number")
        guard number.isSmall || number.double(in: bytes) != nil else { throw rangeError(number) }
    }

    private func rangeError(_ number: JSONNumber) -> JSONError {
        error(
            .value, expected: "a number within the range of a 64-bit float",
            found: "one beyond it", at: number.start)
    }

    /// Consumes a number, checks its grammar and gathers its parts on the way.
    private mutating func scanNumber(expected: String) throws(JSONError) -> JSONNumber {
        guard let first = nextByte(), first == UInt8(ascii: "-") || isDigit(first) else {
            throw typeError(expected: expected)
        }
        var number = JSONNumber(start: offset)
        if first == UInt8(ascii: "-") {
            number.isNegative = true
            offset += 1
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "0") {
            number.add(digit: 0)
            offset += 1
            guard !(offset < bytes.count && isDigit(bytes[offset])) else {
                throw syntaxError(expected: "no digit after a leading zero")
            }
        } else {
            try scanDigits(into: &number)
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            number.isInteger = false
            let start = offset
            try scanDigits(into: &number)
            number.scale -= offset - start
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            try scanExponent(into: &number)
        }
        number.end = offset
        return number
    }

    private mutating func scanDigits(into number: inout JSONNumber) throws(JSONError) {
        let start = offset
        while offset < bytes.count, isDigit(bytes[offset]) {
            number.add(digit: bytes[offset] - UInt8(ascii: "0"))
            offset += 1
        }
        guard offset > start else { throw syntaxError(expected: "a digit") }
    }

    private mutating func scanExponent(into number: inout JSONNumber) throws(JSONError) {
        number.isInteger = false
        offset += 1
        var isNegative = false
        if offset < bytes.count,
            bytes[offset] == UInt8(ascii: "-") || bytes[offset] == UInt8(ascii: "+")
        {
            isNegative = bytes[offset] == UInt8(ascii: "-")
            offset += 1
        }
        let start = offset
        var exponent = 0
        while offset < bytes.count, isDigit(bytes[offset]) {
            // Beyond this, only the slow path is taken, which reads the digits again.
            exponent = min(exponent * 10 + Int(bytes[offset] - UInt8(ascii: "0")), 100_000)
            offset += 1
        }
        guard offset > start else { throw syntaxError(expected: "a digit") }
        number.scale += isNegative ? -exponent : exponent
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A number as it stands in the text: the parts that make most of them exact without a second look.
struct JSONNumber {
    let start: Int
    var end: Int
    var isNegative = false
    var isInteger = true

    /// The power of ten that the digits, taken as an integer, are multiplied with.
    var scale = 0

    /// The digits as an integer; meaningless once they overflowed.
    private var digits: UInt64 = 0
    private var overflowed = false

    init(start: Int) {
        self.start = start
        end = start
    }

    /// Whether it is in the range of `Double` at a glance.
    var isSmall: Bool { !overflowed && abs(scale) < 280 }

    /// The value of an integer; nil where `Int` does not hold it.
    var integer: Int? {
        guard !overflowed else { return nil }
        guard isNegative else { return Int(exactly: digits) }
        return digits == UInt64(Int.max) + 1 ? Int.min : Int(exactly: digits).map { -$0 }
    }

    mutating func add(digit: UInt8) {
        let (product, carried) = digits.multipliedReportingOverflow(by: 10)
        let (sum, carriedMore) = product.addingReportingOverflow(UInt64(digit))
        digits = sum
        overflowed = overflowed || carried || carriedMore
    }

    /// The nearest `Double`; nil beyond its range.
    func double(in bytes: UnsafeRawBufferPointer) -> Double? {
        // Both factors are exact, so the one rounding of the product or quotient is the right one.
        if !overflowed, digits < 1 << 53, abs(scale) < JSONNumber.powersOfTen.count {
            let power = JSONNumber.powersOfTen[abs(scale)]
            let magnitude = scale < 0 ? Double(digits) / power : Double(digits) * power
            return isNegative ? -magnitude : magnitude
        }
        guard let value = Double(text(in: bytes)), value.isFinite else { return nil }
        return value
    }

    func text(in bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// The powers of ten that a `Double` holds exactly.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
