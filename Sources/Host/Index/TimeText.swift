/// Reads and writes the texts of `time` fields.
enum TimeText {
    /// Seconds since 1970-01-01T00:00:00Z of RFC 3339 text, or of a date, which stands for its
    /// first moment, UTC; nil for anything else.
    static func seconds(_ text: String) -> Double? {
        var scanner = Scanner(rest: text.utf8[...])
        guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2),
            scanner.take("-"), let day = scanner.digits(2),
            (1...12).contains(month), (1...days(in: month, of: year)).contains(day)
        else { return nil }
        let midnight = daysSince1970(year: year, month: month, day: day) * 86_400
        if scanner.rest.isEmpty { return Double(midnight) }
        guard scanner.take("T") || scanner.take("t"), let clock = scanner.clock(),
            let fraction = scanner.fraction(), let offset = scanner.offset(), scanner.rest.isEmpty
        else { return nil }
        return Double(midnight + clock - offset) + fraction
    }

    /// The canonical text of a moment: a date for a midnight, else RFC 3339, UTC, with
    /// milliseconds where there are any.
    static func text(seconds: Double) -> String {
        let milliseconds = Int((seconds * 1_000).rounded())
        let (day, rest) = milliseconds.flooredDivision(by: 86_400_000)
        let date = civil(daysSince1970: day)
        let head = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
        guard rest != 0 else { return head }
        let (second, millisecond) = (rest / 1_000, rest % 1_000)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }
        let fraction = millisecond == 0 ? "" : ".\(padded(millisecond, 3))"
        return "\(head)T\(clock.joined(separator: ":"))\(fraction)Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Years start in March here, so that the leap day is the last of its year, and an era is the
    // 400 years after which the calendar repeats: 146,097 days. 719,468 days lie between
    // 0000-03-01 and 1970-01-01.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let (era, yearOfEra) = (month > 2 ? year : year - 1).flooredDivision(by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (
            era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * shifted + 2) / 5 + 1
        )
    }
}

/// Takes a text apart from the left; each step that fails leaves nothing to build on.
private struct Scanner {
    var rest: Substring.UTF8View

    mutating func take(_ character: Character) -> Bool {
        guard let byte = rest.first, byte == character.asciiValue else { return false }
        rest.removeFirst()
        return true
    }

    mutating func digits(_ count: Int) -> Int? {
        let head = rest.prefix(count)
        guard head.count == count, head.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        rest.removeFirst(count)
        return head.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// `23:59:60` as seconds; a leap second is allowed, and is the next minute's first.
    mutating func clock() -> Int? {
        guard let hour = digits(2), take(":"), let minute = digits(2), take(":"),
            let second = digits(2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    /// `.25` as a fraction, nothing as 0; a point without digits is an error.
    mutating func fraction() -> Double? {
        guard take(".") else { return 0 }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        rest.removeFirst(digits.count)
        guard !digits.isEmpty else { return nil }
        return Double("0." + String(Substring(digits)))
    }

    /// `Z`, or `+02:00`, as seconds east.
    mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hour = digits(2), take(":"), let minute = digits(2),
            hour < 24, minute < 60
        else { return nil }
        return (isEast ? 1 : -1) * (hour * 3_600 + minute * 60)
    }
}

extension Int {
    /// Quotient rounded down, and the remainder, never negative.
    fileprivate func flooredDivision(by divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
