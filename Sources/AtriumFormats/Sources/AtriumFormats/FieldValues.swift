public import JSONCodec

/// The values that texts stand for, in fields of a container.
public struct FieldValues: Sendable {
    /// Whether a comma may stand for the point in numbers.
    public var allowsDecimalComma: Bool

    /// What a text is not.
    public struct Misfit: Error, Sendable, Equatable {
        /// What would be right, with its article.
        public var expected: String
        /// The text.
        public var found: String

        /// Says what a value is not.
        public init(expected: String, found: String) {
            self.expected = expected
            self.found = found
        }

        /// Both, for people, who read the beginning of a long text.
        public var reason: String {
            let shown: String = found.count > 60 ? found.prefix(60) + "…" : found
            return "expected \(expected), found '\(shown)'"
        }
    }

    /// Reads texts, by default with points in numbers alone.
    public init(allowsDecimalComma: Bool = false) { self.allowsDecimalComma = allowsDecimalComma }

    /// The value that a text of a table stands for; nil where it stands for none.
    ///
    /// Spaces around the text count in fields of the types `text` and `markdown` alone. The value fits the type as
    /// far as the text shows it.
    public func value(_ text: String, type: String) throws(Misfit) -> JSONValue? {
        if Self.isVerbatim(type) { return text.isEmpty ? nil : .string(text) }
        var text = ItemText.trimmed(text)
        if text.isEmpty { return nil }
        if type == "keywords" {
            let words = Self.array(text) ?? ItemText.words(text)
            return .array(words.map { .string($0) })
        }
        if type == "time", let date = Self.date(text) { text = date }
        if allowsDecimalComma, ["number", "duration"].contains(type), text.contains(","),
            !text.contains(".")
        {
            text = String(text.map { $0 == "," ? "." : $0 })
        }
        return try Self.exact(text, type: type)
    }

    /// The texts of a JSON array; nil where a text is none.
    private static func array(_ text: String) -> [String]? {
        guard text.hasPrefix("[") else { return nil }
        return try? JSON.decode([String].self, from: Array(text.utf8))
    }

    /// A date as fields of the type time have it, of one in the same order: of `2021/3/4` comes `2021-03-04`.
    public static func date(_ text: String) -> String? {
        // Every value of a file is looked at, and few are dates: no regular expression.
        guard (8...10).contains(text.utf8.count) else { return nil }
        let separator: Character = text.contains("/") ? "/" : "."
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 4, (1...2).contains(parts[1].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let month = Int(parts[1]), let day = Int(parts[2]), (1...12).contains(month),
            (1...31).contains(day), parts[2].utf8.count <= 2
        else { return nil }
        return "\(parts[0])-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }

    /// The value that one of JSON stands for; nil where it stands for none.
    ///
    /// Of a text what it stands for is taken. Whole numbers, `true` and `false` are words in fields of the types `text` and
    /// `keywords`. Whether any other value fits the type is for others to say.
    public func value(_ value: JSONValue, type: String) throws(Misfit) -> JSONValue? {
        switch value {
        case .null: nil
        case .string(let text) where text.isEmpty && Self.isVerbatim(type): value
        case .string(let text): try self.value(text, type: type)
        case .int(let number): Self.word("\(number)", type: type) ?? value
        case .bool(let truth): Self.word("\(truth)", type: type) ?? value
        default: value
        }
    }

    private static func word(_ word: String, type: String) -> JSONValue? {
        switch type {
        case "text": .string(word)
        case "keywords": .array([.string(word)])
        default: nil
        }
    }

    /// The value that a text stands for just as it is; a list of words has commas between.
    public static func exact(_ text: String, type: String) throws(Misfit) -> JSONValue {
        let value: JSONValue? =
            switch type {
            case "keywords": .array(ItemText.words(text, by: ",").map { .string($0) })
            case "number": decimal(text).map(number)
            case "integer":
                (Int64(text) ?? decimal(text).flatMap(Int64.init(exactly:))).map { .int($0) }
            case "boolean": boolean(text)
            case "duration": duration(text).map(number)
            default: .string(text)
            }
        guard let value else { throw Misfit(expected: expectation(type, of: text), found: text) }
        return value
    }

    /// The number that a text writes in decimal notation, as in `8.5` or `-1e3`; nil for other texts.
    ///
    /// A whole number without an exponent that a 64-bit float does not hold exactly is none.
    public static func decimal(_ text: String) -> Double? {
        // `Double` also reads hexadecimal numbers, and words for what is not finite.
        guard text.utf8.allSatisfy(isOfNumbers), let number = Double(text), number.isFinite,
            !isRounded(text)
        else { return nil }
        return number
    }

    /// Whether a text is a whole number that a 64-bit float, or a 64-bit integer, does not hold.
    private static func isRounded(_ text: String) -> Bool {
        // As few digits as nearly all have are held.
        guard text.utf8.count > 15,
            text.utf8.allSatisfy({ isOfNumbers($0) && $0 != 0x2E && $0 | 0x20 != 0x65 })
        else { return false }
        return Int64(text).flatMap { Double(exactly: $0) } == nil
    }

    /// Whether a byte is a digit, a sign, a point or the `e` of an exponent.
    private static func isOfNumbers(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x2B, 0x2D, 0x2E, 0x45, 0x65: true
        default: false
        }
    }

    /// Seconds: `7020`, `1h57m`, `117m`, `1:57:00`, `2:30` (minutes and seconds); nil for other texts.
    public static func duration(_ text: String) -> Double? {
        if let seconds = decimal(text) { return seconds >= 0 ? seconds : nil }
        if text.contains(":") { return clock(text) }
        var total = 0.0
        var digits = ""
        for character in text {
            if character.isNumber || character == "." {
                digits.append(character)
                continue
            }
            guard let unit = units[character], let amount = decimal(digits) else { return nil }
            total += amount * unit
            digits = ""
        }
        return digits.isEmpty && !text.isEmpty && total.isFinite ? total : nil
    }

    private static let units: [Character: Double] = ["d": 86400, "h": 3600, "m": 60, "s": 1]

    private static func clock(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count, (2...3).contains(parts.count),
            numbers.dropFirst().allSatisfy({ (0..<60).contains($0) }), numbers[0] >= 0
        else { return nil }
        // In floats: as many hours as a text may name would overflow.
        return numbers.reduce(0) { $0 * 60 + Double($1) }
    }

    /// Whether spaces around a text are a part of it.
    private static func isVerbatim(_ type: String) -> Bool { type == "text" || type == "markdown" }

    private static func boolean(_ text: String) -> JSONValue? {
        switch text.lowercased() {
        case "true", "yes", "on", "1": .bool(true)
        case "false", "no", "off", "0": .bool(false)
        default: nil
        }
    }

    private static func number(_ number: Double) -> JSONValue {
        Int64(exactly: number).map { .int($0) } ?? .double(number)
    }

    private static func expectation(_ type: String, of text: String) -> String {
        switch type {
        case "number", "duration":
            if isRounded(text) { return exactNumber }
            return type == "number" ? "a number" : "a duration such as 1h57m or seconds"
        case "integer": return isRounded(text) ? exactInteger : "a whole number"
        case "boolean": return "true or false"
        default: return "a value of the type \(type)"
        }
    }

    /// What is expected of a whole number that can't be distinguished from its neighbours.
    public static let exactInteger = "a whole number from -9007199254740992 to 9007199254740992"

    /// What is expected of a number of which another would be kept.
    public static let exactNumber =
        "a number that a 64-bit float holds exactly (a field of the type text keeps every digit)"
}
