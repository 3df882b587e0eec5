/// A number as it is written in the text, in parts from which most numbers are computed exactly without parsing it
/// again.
struct JSONNumber {
    let start: Int
    var end: Int
    var isNegative = false
    var isInteger = true

    /// The power of ten that the digits, taken as an integer, are multiplied with.
    var scale = 0

    /// The digits as an integer; meaningless where there are more than fit.
    var digits: UInt64 = 0

    /// The number of digits.
    var count = 0

    init(start: Int) {
        self.start = start
        end = start
    }

    /// Whether all digits went into ``digits``.
    private var isWhole: Bool { count <= 19 }

    /// Whether it is in the range of `Double` at a glance.
    var isSmall: Bool { isWhole && abs(scale) < 280 }

    /// The value of an integer; nil where `Int` does not hold it.
    var integer: Int? {
        guard isWhole else { return nil }
        guard isNegative else { return Int(exactly: digits) }
        return digits == UInt64(Int.max) + 1 ? Int.min : Int(exactly: digits).map { -$0 }
    }

    /// The nearest `Double`; nil beyond its range.
    func double(in bytes: JSONBytes) -> Double? {
        if isWhole, let magnitude = PowersOfTen.nearest(to: digits, scale: scale) {
            return isNegative ? -magnitude : magnitude
        }
        guard let value = Double(text(in: bytes)), value.isFinite else { return nil }
        return value
    }

    func text(in bytes: JSONBytes) -> String {
        String(decoding: bytes[start..<end].buffer, as: UTF8.self)
    }
}

/// Decimal numbers of up to 19 digits as the nearest `Double`, by exact arithmetic.
enum PowersOfTen {
    /// The `Double` nearest to digits · 10^scale; nil where the scale is too far from 0 to say.
    static func nearest(to digits: UInt64, scale: Int) -> Double? {
        let exponent = Int(scale.magnitude)
        if digits < 1 << 53, exponent <= 22 {
            // Both are exact, so the one rounding of the product or quotient is the right one.
            return scale < 0 ? Double(digits) / exact[exponent] : Double(digits) * exact[exponent]
        }
        guard exponent < ofFive.count else { return nil }
        return scale < 0
            ? quotient(digits, ofFive[exponent], exponent)
            : product(digits, ofFive[exponent], exponent)
    }

    /// Returns digits · five · 2^exponent: the product takes two words, and is rounded once.
    private static func product(_ digits: UInt64, _ five: UInt64, _ exponent: Int) -> Double {
        let (high, low) = digits.multipliedFullWidth(by: five)
        guard high > 0 else { return scaled(low, 0, by: exponent) }
        let shift = high.leadingZeroBitCount
        let top = high << UInt64(shift) | low >> UInt64(64 - shift)
        return scaled(top, low << UInt64(shift), by: exponent + 64 - shift)
    }

    /// Returns digits / five / 2^exponent, computed from as many bits of the quotient as a word holds, and whether
    /// there are more.
    private static func quotient(_ digits: UInt64, _ five: UInt64, _ exponent: Int) -> Double {
        // With the divisor's highest bit set and the dividend's not, the quotient fills the word but for
        // two bits at most.
        let (up, down) = (digits.leadingZeroBitCount, five.leadingZeroBitCount)
        let (quotient, remainder) = (five << UInt64(down))
            .dividingFullWidth(((digits << UInt64(up)) >> 1, 0))
        return scaled(quotient, remainder, by: down - up + 1 - 64 - exponent)
    }

    /// Returns word · 2^exponent, rounded to the nearest; `rest` is not 0 if anything follows the word's last bit.
    private static func scaled(_ word: UInt64, _ rest: UInt64, by exponent: Int) -> Double {
        // A last bit that stands for all that follows keeps halves from looking like halves. It is not
        // one of the 53 that count, for the word has 62 bits at least where anything follows.
        let magnitude = Double(word | (rest > 0 ? 1 : 0))
        return Double(sign: .plus, exponent: exponent, significand: magnitude)
    }

    /// The powers of ten that a `Double` holds exactly.
    private static let exact: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The odd parts of powers of ten, which are the powers of five, as far as a word holds them.
    private static let ofFive: [UInt64] = (0...27).reduce(into: []) { powers, _ in
        powers.append((powers.last.map { $0 * 5 }) ?? 1)
    }
}
