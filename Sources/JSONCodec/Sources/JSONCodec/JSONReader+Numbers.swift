extension JSONReader {
    /// Reads an integer.
    ///
    /// - Throws: ``JSONError`` for another kind of value, for a fraction or an exponent (also `3.0`),
    ///   and beyond the range of `Int`.
    public mutating func readInt() throws(JSONError) -> Int {
        if let value = readShortInteger() { return value }
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

    /// Reads a number: as an integer if it is written as one and fits, otherwise as a `Double`, or as its digits if
    /// they are to be kept.
    mutating func readNumber() throws(JSONError) -> JSONValue {
        if let value = readShortInteger() { return .int(Int64(value)) }
        let number = try scanNumber(expected: "a number")
        if number.isInteger {
            if let value = number.integer { return .int(Int64(value)) }
            if keepsDigits { return .string(number.text(in: bytes)) }
        }
        guard let value = number.double(in: bytes) else { throw rangeError(number) }
        return .double(value)
    }

    /// Consumes a number that is passed on as text.
    mutating func skipNumber() throws(JSONError) {
        if readShortInteger() != nil { return }
        let number = try scanNumber(expected: "a number")
        guard number.isSmall || number.double(in: bytes) != nil || isLenient else {
            throw rangeError(number)
        }
    }

    private func rangeError(_ number: JSONNumber) -> JSONError {
        error(
            .value, expected: "a number within the range of a 64-bit float",
            found: "one beyond it", at: number.start)
    }

    /// Consumes and returns an integer of so few digits that it can't but fit, as nearly all are; nil, with nothing
    /// consumed, for whatever else comes.
    @inline(__always)
    private mutating func readShortInteger() -> Int? {
        guard let first = nextByte() else { return nil }
        let isNegative = first == UInt8(ascii: "-")
        let start = isNegative ? offset &+ 1 : offset
        var position = start
        var value = 0
        while position < bytes.count, isDigit(bytes[position]) {
            value = value &* 10 &+ Int(bytes[position] &- UInt8(ascii: "0"))
            position &+= 1
        }
        let count = position &- start
        guard (1...18).contains(count), bytes[start] != UInt8(ascii: "0") || count == 1 else {
            return nil
        }
        if position < bytes.count {
            let next = bytes[position]
            guard next != UInt8(ascii: "."), next | 0x20 != UInt8(ascii: "e") else { return nil }
        }
        offset = position
        return isNegative ? -value : value
    }

    /// Consumes a number, checks its grammar and gathers its parts on the way.
    @inline(__always)
    private mutating func scanNumber(expected: String) throws(JSONError) -> JSONNumber {
        guard let first = nextByte(), first == UInt8(ascii: "-") || isDigit(first) else {
            throw typeError(expected: expected)
        }
        var number = JSONNumber(start: offset)
        if first == UInt8(ascii: "-") {
            number.isNegative = true
            offset += 1
        }
        let start = offset
        try scanDigits(into: &number)
        guard bytes[start] != UInt8(ascii: "0") || offset == start + 1 else {
            throw syntaxError(expected: "no digit after a leading zero", at: start + 1)
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            number.isInteger = false
            let start = offset
            try scanDigits(into: &number)
            number.scale = start - offset
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            try scanExponent(into: &number)
        }
        number.end = offset
        return number
    }

    @inline(__always)
    private mutating func scanDigits(into number: inout JSONNumber) throws(JSONError) {
        let start = offset
        var position = start
        var digits = number.digits
        while position < bytes.count, isDigit(bytes[position]) {
            digits = digits &* 10 &+ UInt64(bytes[position] &- UInt8(ascii: "0"))
            position &+= 1
        }
        guard position > start else { throw syntaxError(expected: "a digit") }
        offset = position
        number.digits = digits
        number.count += position - start
    }

    @inline(never)
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

    @inline(__always)
    private func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }
}
