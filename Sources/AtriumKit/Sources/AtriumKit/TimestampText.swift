extension Timestamp {
    /// Parses a text in RFC 3339 (`2026-01-31T20:15:00Z`, with or without a fraction, with any offset), or a date,
    /// which stands for its first moment in UTC.
    ///
    /// Nil for anything else, including a day that its month does not have.
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

    /// The time in RFC 3339, UTC, milliseconds: `2026-01-31T20:15:00.000Z`.
    ///
    /// Days are counted as Howard Hinnant's `civil_from_days` does (chrono-compatible low-level
    /// date algorithms): eras of 400 years from March 1st.
    public var text: String {
        let (days, inDay) = floorDivide(milliseconds, 86_400_000)
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
        let seconds = inDay / 1_000
        let isUsual = (0...9_999).contains(year)
        // One allocation, because every notification has a time.
        let text = String(unsafeUninitializedCapacity: 24) { buffer in
            var writer = DigitWriter(buffer: buffer)
            writer.write(isUsual ? year : 0, digits: 4, then: "-")
            writer.write(civilMonth, digits: 2, then: "-")
            writer.write(day, digits: 2, then: "T")
            writer.write(seconds / 3_600, digits: 2, then: ":")
            writer.write(seconds / 60 % 60, digits: 2, then: ":")
            writer.write(seconds % 60, digits: 2, then: ".")
            writer.write(inDay % 1_000, digits: 3, then: "Z")
            return writer.position
        }
        return isUsual ? text : "\(year)" + text.dropFirst(4)
    }

    /// The time as people write it: a date for a midnight, else RFC 3339, UTC, with milliseconds if they are not 0:
    /// `2026-01-31`, `2026-01-31T20:15:00Z`.
    public var shortText: String {
        let text = text
        if milliseconds % 86_400_000 == 0 { return String(text.prefix { $0 != "T" }) }
        return milliseconds % 1_000 == 0 ? String(text.dropLast(5)) + "Z" : text
    }

    /// Whether a text names a time that a timestamp represents exactly: to the millisecond, and in UTC between the
    /// years 0 and 9999.
    ///
    /// ``init(_:)`` truncates fractions of a millisecond.
    public static func isExact(_ text: String) -> Bool {
        guard let moment = Timestamp(text),
            (-62_167_219_200_000...253_402_300_799_999).contains(moment.milliseconds)
        else { return false }
        // The seconds end at byte 19.
        let fraction = text.utf8.dropFirst(19)
        guard fraction.first == UInt8(ascii: ".") else { return true }
        let digits = fraction.dropFirst().prefix { (0x30...0x39).contains($0) }
        return digits.dropFirst(3).allSatisfy { $0 == 0x30 }
    }

    /// Whether a text is only a date, and so stands for a whole day.
    public static func isDate(_ text: String) -> Bool {
        text.utf8.count == 10 && Timestamp(text) != nil
    }

    private func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let remainder = value % divisor
        return remainder < 0
            ? (value / divisor - 1, remainder + divisor) : (value / divisor, remainder)
    }
}

/// Writes the parts of an RFC 3339 text, each of a fixed number of digits.
private struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    var position = 0

    mutating func write(_ number: Int64, digits: Int, then separator: Unicode.Scalar) {
        var rest = number
        for place in (position..<(position + digits)).reversed() {
            buffer[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        position += digits + 1
        buffer[position - 1] = UInt8(truncatingIfNeeded: separator.value)
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

    /// Reads days since 1970-01-01, in the Gregorian calendar.
    mutating func date() -> Int64? {
        guard let year = number(4, in: 0...9999), take("-"), let month = number(2, in: 1...12),
            take("-"), let day = number(2, in: 1...31)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[Int(month) - 1] else { return nil }
        let before = lengths[..<(Int(month) - 1)].reduce(0, +)
        // Years are counted from 1 January of the year 0, itself a leap year.
        let leapDays = year == 0 ? 0 : (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1
        return year * 365 + leapDays + before + day - 1 - 719_528
    }

    /// Reads milliseconds since midnight; a leap second counts as the first of the next minute.
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

    /// Reads the milliseconds by which the clock is ahead of UTC.
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
