extension Timestamp {
    /// The moment that a text names: RFC 3339 (`2026-01-31T20:15:00Z`, with or without a fraction,
    /// with any offset), or a date, which stands for its first moment in UTC.
    ///
    /// Nil for anything else, also for a day that its month does not have.
    public init?(_ text: String) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let days = reader.date() else { return nil }
        if reader.isAtEnd {
            self.init(milliseconds: days * 86_400_000)
            return
        }
        guard reader.take("T") || reader.take("t"),
            let time = reader.timeOfDay(), let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        self.init(milliseconds: days * 86_400_000 + time - offset)
    }

    /// Whether a text is a date alone, and so stands for a whole day.
    public static func isDate(_ text: String) -> Bool {
        text.utf8.count == 10 && Timestamp(text) != nil
    }
}

/// Reads the parts of an RFC 3339 text, each of a fixed number of digits.
private struct DigitReader {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else {
            return false
        }
        position += 1
        return true
    }

    mutating func number(_ digits: Int, in range: ClosedRange<Int64>) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else {
                return nil
            }
            value = value * 10 + Int64(bytes[position] - 0x30)
            position += 1
        }
        return range.contains(value) ? value : nil
    }

    /// Days since 1970-01-01, in the Gregorian calendar.
    mutating func date() -> Int64? {
        guard let year = number(4, in: 0...9999), take("-"), let month = number(2, in: 1...12),
            take("-"), let day = number(2, in: 1...31)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[Int(month) - 1] else { return nil }
        let before = lengths[..<(Int(month) - 1)].reduce(0, +)
        // Years counted from 1 January of the year 0, itself a leap year.
        let leapDays = year == 0 ? 0 : (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1
        return year * 365 + leapDays + before + day - 1 - 719_528
    }

    /// Milliseconds since midnight; a leap second counts as the first of the next minute.
    mutating func timeOfDay() -> Int64? {
        guard let hour = number(2, in: 0...23), take(":"), let minute = number(2, in: 0...59),
            take(":"), let second = number(2, in: 0...60)
        else { return nil }
        var milliseconds: Int64 = 0
        if take(".") {
            var weight: Int64 = 100
            let start = position
            while let digit = number(1, in: 0...9) {
                milliseconds += digit * weight
                weight /= 10
            }
            guard position > start else { return nil }
        }
        return ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds
    }

    /// Milliseconds by which the clock is ahead of UTC.
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") {
            sign = 1
        } else if take("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hour = number(2, in: 0...23), take(":"), let minute = number(2, in: 0...59)
        else { return nil }
        return sign * (hour * 60 + minute) * 60_000
    }
}
