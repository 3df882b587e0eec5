import AtriumFormats
import JSONCodec

/// What the values of a column, or of a member of objects, have in common.
struct ColumnProfile {
    /// The type of the field that a column becomes.
    struct Choice: Equatable {
        /// The field's type; nil: it is left out.
        var type: String?
        /// A remark for the definition's comment.
        var note: String?
    }

    /// The most values that make filters.
    private static let mostFilters = 50
    /// Columns whose values are lists where commas stand in them.
    private static let lists: Set = [
        "genre", "genres", "tag", "tags", "keywords", "categories", "labels", "directors", "cast",
        "actors", "authors", "artists", "speakers", "languages", "shelves", "bookshelves",
    ]
    /// Columns whose clocks are lengths.
    private static let lengths: Set = ["duration", "length", "runtime"]
    /// Columns whose addresses are those of pictures.
    private static let pictures: Set = [
        "poster", "cover", "image", "picture", "photo", "thumbnail", "logo", "avatar",
    ]

    let name: String
    private let allowsDecimalComma: Bool
    /// In how many rows there is a value.
    private(set) var filled = 0
    private(set) var longest = 0
    /// Whether the file marks its values as text, as in `="007"`.
    var isMarkedText = false
    /// How many values have no digit in them, as names have none.
    private var names = 0
    /// Whether no two values make the same id.
    private(set) var isUnique = true
    private var counts: [ValueTrait: Int] = [:]
    /// How many decimals numbers with a point have, and whether one of them ends with a zero.
    private var decimals: Set<Int> = []
    private var hasTrailingZero = false
    private var separated: [Character: Int] = [:]
    /// The words of lists, by what separates them, and whether one stands in several.
    private var parts: [Character: Set<String>] = [:]
    private var repeats: Set<Character> = []
    private var lists = 0
    private var isNested = false
    private var slugs: Set<Int> = []
    private var values: Set<String> = []
    private var words: Set<String> = []
    private var longestWord = 0

    init(_ name: String, allowsDecimalComma: Bool) {
        self.name = name
        self.allowsDecimalComma = allowsDecimalComma
    }

    /// Looks at a value.
    mutating func add(_ value: JSONValue) {
        switch value {
        case .null, .string(""): return
        case .bool(let truth): add(truth ? "true" : "false")
        case .int(let number): add("\(number)")
        case .double(let number): add("\(number)", isWritten: false)
        case .string(let text): add(ItemText.trimmed(text))
        case .array(let elements):
            let texts = elements.compactMap(\.string)
            filled += 1
            lists += 1
            isUnique = false
            if texts.count < elements.count { isNested = true }
            add(words: texts)
        case .object:
            filled += 1
            isNested = true
        }
    }

    /// Looks at a value's text; `isWritten`: the file has it so; of a number in JSON it is one of several forms.
    private mutating func add(_ text: String, isWritten: Bool = true) {
        guard !text.isEmpty else { return }
        filled += 1
        longest = max(longest, text.count)
        if !text.contains(where: \.isNumber) { names += 1 }
        let traits = ValueTrait.of(text, allowsDecimalComma: allowsDecimalComma)
        for trait in traits where isWritten || trait != .code { counts[trait, default: 0] += 1 }
        if isWritten, traits.contains(.number) { addDecimals(text) }
        for separator in "|;," where text.contains(separator) {
            separated[separator, default: 0] += 1
        }
        addParts(text)
        if values.count <= Self.mostFilters { values.insert(text) }
        add(words: ItemText.words(text))
        if isUnique {
            isUnique = slugs.insert((ItemText.slug([text]) ?? "").hashValue).inserted
            if !isUnique { slugs = [] }
        }
    }

    private mutating func addDecimals(_ text: String) {
        guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return }
        let digits = text.utf8[point...].dropFirst()
        // Programs write a whole number as 1.0.
        guard !digits.elementsEqual("0".utf8) else { return }
        decimals.insert(digits.count)
        if digits.last == UInt8(ascii: "0") { hasTrailingZero = true }
    }

    /// Whether a zero at a number's end distinguishes it, as 1.10 from 1.1: prices have the same decimals throughout.
    private var hasUnequalDecimals: Bool { hasTrailingZero && decimals.count > 1 }

    private mutating func addParts(_ text: String) {
        for separator in "|;"
        where !repeats.contains(separator) && parts[separator]?.count ?? 0 < 1000 {
            for part in text.split(separator: separator) {
                let isNew = parts[separator, default: []].insert(ItemText.trimmed(part)).inserted
                if !isNew { repeats.insert(separator) }
            }
        }
    }

    private mutating func add(words: [String]) {
        for word in words {
            longestWord = max(longestWord, word.count)
            if self.words.count <= Self.mostFilters { self.words.insert(word) }
        }
    }

    private func all(_ traits: ValueTrait...) -> Bool {
        filled > 0 && traits.reduce(0) { $0 + counts[$1, default: 0] } == filled
    }

    /// The field that the column becomes.
    var choice: Choice {
        if filled == 0 { return Choice(type: "text", note: "empty in every row") }
        if isNested { return Choice(note: "holds objects or other lists, which no field takes") }
        if lists > 0 { return Choice(type: "keywords") }
        if isMarkedText, all(.number) {
            return Choice(type: "text", note: "text, as the file marks it")
        }
        if counts[.leadingZero] != nil, all(.number) {
            return Choice(type: "text", note: "text, to keep leading zeros")
        }
        if counts[.code] != nil || hasUnequalDecimals, all(.number) {
            return Choice(type: "text", note: "text, to keep codes as they are")
        }
        return number ?? moment ?? address ?? words(of: "|") ?? words(of: ";")
            ?? (Self.lists.contains(ItemText.plain(name)) ? words(of: ",") : nil)
            ?? Choice(type: "text")
    }

    private var number: Choice? {
        if all(.boolean) { return Choice(type: "boolean") }
        if all(.integer) { return Choice(type: "integer") }
        return all(.number) ? Choice(type: "number") : nil
    }

    private var moment: Choice? {
        if all(.time) { return Choice(type: "time") }
        if all(.time, .noDay) {
            return Choice(
                type: "text", note: "text, as it has days that do not exist; without them, a time")
        }
        if all(.time, .timeWithoutZone, .noDay) {
            return Choice(
                type: "text",
                note: "times without a zone stay text; 2026-01-31T20:00:00+01:00 is a time")
        }
        if all(.time, .otherDate, .noDay) {
            return Choice(
                type: "text",
                note: "dates in this order stay text, day or month first; 2026-01-31 is a date")
        }
        let isLength = Self.lengths.contains { ItemText.plain(name).contains($0) }
        let hasUnits = counts[.duration] != nil
        return all(.duration, .clock) && (hasUnits || isLength) ? Choice(type: "duration") : nil
    }

    private var address: Choice? {
        let plain = ItemText.plain(name)
        let isPicture = Self.pictures.contains { plain == $0 || plain == $0 + "url" }
        if all(.picture) || all(.url) && isPicture { return Choice(type: "image") }
        return all(.url) ? Choice(type: "url") : nil
    }

    /// Keywords, where enough values are lists of short words, some of them in several.
    private func words(of separator: Character) -> Choice? {
        let count = separated[separator, default: 0]
        guard count > 0, count * 10 >= filled, longestWord <= 40,
            separator == "," || repeats.contains(separator)
        else { return nil }
        return Choice(type: "keywords", note: "split at '\(separator)'")
    }

    /// Whether its values are names, or other words, and no codes.
    var holdsNames: Bool { choice.type == "text" && names * 2 > filled }

    /// Whether its values make a section of filters.
    var isFacet: Bool {
        if isMoment { return false }
        return switch choice.type {
        case "keywords": (2...Self.mostFilters).contains(words.count)
        case "text", "integer", "number":
            (2...Self.mostFilters).contains(values.count) && values.count < filled && longest <= 60
        case "boolean": values.count == 2
        default: false
        }
    }

    /// Whether a search looks at it: at all words, also at those that are filters, as who types a name does not know which
    /// field has it.
    var isSearched: Bool {
        choice.type == "keywords" || choice.type == "text" && !isMoment && filled > 0
    }

    /// Whether it is a date that stayed text.
    var isMoment: Bool { moment != nil }
}
