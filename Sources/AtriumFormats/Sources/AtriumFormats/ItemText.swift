@_spi(_Unicode) import Swift

/// Names and ids as people write them.
public enum ItemText {
    /// The id made of texts, as in `alien-1979`; nil where they have no letters.
    public static func slug(_ values: [String]) -> String? {
        var text = ""
        for scalar in values.joined(separator: " ").lowercased().unicodeScalars {
            let letters = Self.letters(of: scalar)
            if !letters.isEmpty {
                text += letters
            } else if !text.isEmpty, text.last != "-", !joins(scalar) {
                text.append("-")
            }
        }
        while text.last == "-" || text.utf8.count > 200 { text.removeLast() }
        return text.isEmpty ? nil : text
    }

    /// Whether what stands around it is one word: accents of their own, and apostrophes.
    private static func joins(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "'" || scalar == "’" || scalar.properties.generalCategory == .nonspacingMark
    }

    /// A letter without its accents, as far as the alphabet has it.
    private static func letters(of scalar: Unicode.Scalar) -> String {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                ? String(scalar) : ""
        }
        if let plain = plainLetters[scalar] { return plain }
        return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            ? String(scalar) : ""
    }

    private static let plainLetters: [Unicode.Scalar: String] = {
        var result: [Unicode.Scalar: String] = ["ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"]
        let letters = [
            "a": "àáâãäåāăą", "c": "çćĉċč", "d": "ďđð", "e": "èéêëēĕėęě", "g": "ĝğġģ", "h": "ĥħ",
            "i": "ìíîïĩīĭįı", "j": "ĵ", "k": "ķ", "l": "ĺļľŀł", "n": "ñńņňŉ", "o": "òóôõöøōŏő",
            "r": "ŕŗř", "s": "śŝşšș", "t": "ţťŧț", "u": "ùúûüũūŭůűų", "w": "ŵ", "y": "ýÿŷ",
            "z": "źżž",
        ]
        for (plain, accented) in letters {
            for scalar in accented.unicodeScalars { result[scalar] = plain }
        }
        return result
    }()

    /// Whether two names are one but for case, spaces and the like.
    public static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || plain(one) == plain(other)
    }

    /// A name's letters and digits alone, in lower case.
    public static func plain(_ name: String) -> String {
        name.lowercased().unicodeScalars.map(letters(of:)).joined()
    }

    /// An id in NFC (Unicode Standard Annex 15), as ids of items are; macOS spells the names of files otherwise.
    public static func normal(_ id: String) -> String {
        guard id.utf8.contains(where: { $0 >= 0x80 }) else { return id }
        // Foundation's form takes letters beyond U+FFFF for others; the kit's is not for programs without plugins.
        var scalars = String.UnicodeScalarView()
        for scalar in id._nfc { scalars.append(scalar) }
        return String(scalars)
    }

    /// The words of a list: those with a comma in them stand in one that is separated otherwise.
    public static func words(_ text: String) -> [String] {
        words(text, by: (["|", ";"] as [Character]).first(where: text.contains) ?? ",")
    }

    /// The words of a list that are separated so, without spaces around them.
    public static func words(_ text: String, by separator: Character) -> [String] {
        text.split(separator: separator).map(trimmed).filter { !$0.isEmpty }
    }

    /// A text without spaces around it.
    public static func trimmed(_ text: some StringProtocol) -> String {
        var text = text[...]
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}
