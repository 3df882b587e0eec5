import AtriumFormats

/// A form that a value of a column may have, such as a whole number or a date.
enum ValueTrait: Hashable {
    case integer
    case number
    /// Digits that begin with a zero: a code, no number.
    case leadingZero
    /// Another number that is not written back as it was: +49228, 1E5, 12345678901234567890.
    case code
    case boolean
    /// A date or a moment as fields of the type time have it.
    case time
    /// A moment that does not say in which zone.
    case timeWithoutZone
    /// A date in another order, such as 03/04/2021.
    case otherDate
    /// A date in a year's order that no calendar has, such as 2020-02-30.
    case noDay
    /// A length with units, or of three parts.
    case duration
    /// 2:30, a length or a time of day.
    case clock
    case url
    case picture

    /// All forms that a text has.
    ///
    /// Every value of a file is looked at: regular expressions would take most of the time.
    static func of(_ text: String, allowsDecimalComma: Bool) -> Set<ValueTrait> {
        var traits: Set<ValueTrait> = []
        if text.utf8.allSatisfy(Self.numerals.contains) {
            let number = allowsDecimalComma ? text.replacing(",", with: ".") : text
            if FieldValues.decimal(number) != nil || isWhole(text.utf8) {
                traits.insert(.number)
                if Int64(text) != nil { traits.insert(.integer) }
                if isLeadingZero(text.utf8) {
                    traits.insert(.leadingZero)
                } else if isCode(text.utf8) {
                    traits.insert(.code)
                }
            }
        }
        if text.utf8.count <= 5, ["true", "false", "yes", "no"].contains(text.lowercased()) {
            traits.insert(.boolean)
        }
        if let moment = moment(text) { traits.insert(moment) }
        if isAddress(text) {
            traits.insert(.url)
            if isPicture(text) { traits.insert(.picture) }
        }
        return traits
    }

    private static let numerals = Set("0123456789+-.,eE".utf8)
    private static let zero = UInt8(ascii: "0")

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLeadingZero(_ bytes: String.UTF8View) -> Bool {
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        return digits.first == zero && digits.dropFirst().first.map(isDigit) ?? false
    }

    /// Whether it is a whole number, however long.
    private static func isWhole(_ bytes: String.UTF8View) -> Bool {
        let digits = "+-".utf8.contains(bytes.first ?? 0) ? bytes.dropFirst() : bytes[...]
        return !digits.isEmpty && digits.allSatisfy(isDigit)
    }

    /// Whether a number has a plus or an exponent, or is a whole one that fields do not hold exactly.
    private static func isCode(_ bytes: String.UTF8View) -> Bool {
        if bytes.first == UInt8(ascii: "+") { return true }
        if bytes.contains(where: { "eE".utf8.contains($0) }) { return true }
        guard !bytes.contains(where: { ".,".utf8.contains($0) }) else { return false }
        let whole = Int64(String(bytes)).map { $0.magnitude <= 1 << 53 } ?? false
        return !whole
    }

    private static func isAddress(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else {
            return false
        }
        return text.utf8.count > scheme.utf8.count && !text.contains(where: \.isWhitespace)
    }

    private static let pictures = [
        ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg",
    ]

    /// Whether an address ends with a picture's file, or has a query behind it.
    private static func isPicture(_ address: String) -> Bool {
        let file = address.lowercased()
        return pictures.contains { file.hasSuffix($0) || file.contains($0 + "?") }
    }

    private static func moment(_ text: String) -> ValueTrait? {
        guard text.utf8.count <= 40, text.utf8.contains(where: isDigit) else { return nil }
        // The text with a 0 for each digit.
        let shape = Substring(decoding: text.utf8.map { isDigit($0) ? zero : $0 }, as: UTF8.self)
        if shape.hasPrefix("0000-00-00") {
            let rest = shape.dropFirst(10)
            let isDate = rest.first.map { "T ".contains($0) } ?? true
            if isDate, !isDay(text.prefix(10)) { return .noDay }
            if let moment = isoMoment(rest) { return moment }
        }
        if let date = FieldValues.date(text) { return isDay(date[...]) ? .time : .noDay }
        if isOtherDate(shape) { return .otherDate }
        let parts = shape.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, parts[1] == "00", isZeros(parts[0], most: 40) { return .clock }
        if text.contains(where: { "hms:".contains($0) }), FieldValues.duration(text) != nil {
            return .duration
        }
        return nil
    }

    /// Whether the calendar has a day, written as 2026-01-31.
    private static func isDay(_ date: Substring) -> Bool {
        let parts = date.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, (1...12).contains(parts[1]) else { return false }
        let year = parts[0]
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[parts[1] - 1]).contains(parts[2])
    }

    /// A date as 2026-01-31 with this behind it, each digit as 0: nothing, or a time of day.
    private static func isoMoment(_ rest: Substring) -> ValueTrait? {
        if rest.isEmpty { return .time }
        guard rest.hasPrefix("T00:00") || rest.hasPrefix(" 00:00") else { return nil }
        var zone = rest.dropFirst(6)
        guard !zone.contains(where: \.isWhitespace) else { return nil }
        let hasSeconds = zone.hasPrefix(":00")
        if hasSeconds {
            zone = zone.dropFirst(3)
            if zone.hasPrefix(".0") { zone = zone.dropFirst().drop { $0 == "0" } }
        }
        let hasZone = ["Z", "+00:00", "-00:00"].contains(zone)
        return rest.hasPrefix("T") && hasSeconds && hasZone ? .time : .timeWithoutZone
    }

    /// Whether a text begins with a date of other parts: 03/04/2021.
    private static func isOtherDate(_ shape: Substring) -> Bool {
        let date = shape.prefix { $0 != " " }
        guard let separator = date.first(where: { $0 != "0" }), "./-".contains(separator) else {
            return false
        }
        let parts = date.split(separator: separator, omittingEmptySubsequences: false)
        return parts.count == 3 && isZeros(parts[0], most: 4) && isZeros(parts[1], most: 2)
            && isZeros(parts[2], most: 4)
    }

    private static func isZeros(_ text: Substring, most: Int) -> Bool {
        (1...most).contains(text.utf8.count) && text.utf8.allSatisfy { $0 == zero }
    }
}
