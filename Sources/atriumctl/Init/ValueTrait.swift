import AtriumFormats

/// A form that a value of a column may have, such as a whole number or a date.
enum ValueTrait: Hashable {
    case integer
    case number
    /// Digits that begin with a zero: a code, no number.
    case leadingZero
    case boolean
    /// A date or a moment as fields of the type time have it.
    case time
    /// A moment that does not say in which zone.
    case timeWithoutZone
    /// A date in another order, such as 03/04/2021.
    case otherDate
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
            if FieldValues.decimal(number) != nil {
                traits.insert(.number)
                if Int64(text) != nil { traits.insert(.integer) }
                if isLeadingZero(text.utf8) { traits.insert(.leadingZero) }
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
        bytes.count > 1 && bytes.first == zero && bytes.allSatisfy(isDigit)
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
        if shape.hasPrefix("0000-00-00"), let moment = isoMoment(text, shape.dropFirst(10)) {
            return moment
        }
        if FieldValues.date(text) != nil { return .time }
        if isOtherDate(shape) { return .otherDate }
        let parts = shape.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, parts[1] == "00", isZeros(parts[0], most: 40) { return .clock }
        if text.contains(where: { "hms:".contains($0) }), FieldValues.duration(text) != nil {
            return .duration
        }
        return nil
    }

    /// A date as 2026-01-31, alone or with a time of day.
    private static func isoMoment(_ text: String, _ rest: Substring) -> ValueTrait? {
        let parts = text.prefix(10).split(separator: "-")
        guard (1...12).contains(Int(parts[1]) ?? 0), (1...31).contains(Int(parts[2]) ?? 0) else {
            return nil
        }
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
