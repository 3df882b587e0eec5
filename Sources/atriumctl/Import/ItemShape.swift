import Interfaces
import JSONCodec

/// How columns of a table, and members of an object, become an item of a container.
struct ItemShape {
    /// What a column or a member is for.
    enum Role: Equatable {
        case id
        case parent
        case field(Field)
        case ignored
    }

    /// What somebody said about columns.
    struct Wishes: Equatable {
        /// Of which columns ids are made; empty: they stand in the column `id`.
        var id: [String] = []
        /// Which columns are left out.
        var ignored: [String] = []
    }

    let container: String
    let fields: [Field]
    let wishes: Wishes
    /// Whether a comma may stand for the point in numbers.
    var allowsDecimalComma = false

    /// What a name is for; nil where there is no such field.
    func role(of name: String) -> Role? {
        if wishes.ignored.contains(where: { Self.isSame($0, name) }) { return .ignored }
        if let field = fields.first(where: { $0.name == name }) { return .field(field) }
        if wishes.id.isEmpty, Self.plain(name) == "id" { return .id }
        if let field = fields.first(where: { Self.isSame($0.name, name) }) { return .field(field) }
        if Self.plain(name) == "parent" { return .parent }
        return wishes.id.contains { Self.isSame($0, name) } ? .ignored : nil
    }

    /// What to say of a name that is no field's.
    func unknown(_ name: String) -> ImportLineError {
        let known = fields.map(\.name) + ["id", "parent"]
        let nearest = Nearest.name(to: Self.plain(name), in: known)
        let meant = nearest.map { "did you mean '\($0)'? " } ?? ""
        return ImportLineError(
            reason:
                "'\(name)' is no field of '\(container)': \(meant)--ignore '\(name)' leaves it out")
    }

    /// The id made of the values of columns; nil where they have no letters.
    static func slug(_ values: [String]) -> String? {
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
    static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || plain(one) == plain(other)
    }

    /// A name's letters and digits alone, in lower case.
    static func plain(_ name: String) -> String {
        name.lowercased().unicodeScalars.map(letters(of:)).joined()
    }
}

/// A value that stands for a field's.
extension ItemShape {
    /// The value that a text stands for; nil where it stands for none.
    func value(_ text: String, of field: Field) throws(ImportLineError) -> JSONValue? {
        guard ["text", "markdown"].contains(field.type) else {
            return try typed(Self.trimmed(text), field)
        }
        return text.isEmpty ? nil : .string(text)
    }

    /// The value that one of JSON stands for; nil where it stands for none.
    func value(_ value: JSONValue, of field: Field) throws(ImportLineError) -> JSONValue? {
        switch value {
        case .null: nil
        case .string(let text) where text.isEmpty && ["text", "markdown"].contains(field.type):
            value
        case .string(let text): try self.value(text, of: field)
        case .int(let number) where field.type == "text": .string("\(number)")
        default: value
        }
    }

    private func typed(_ text: String, _ field: Field) throws(ImportLineError) -> JSONValue? {
        if text.isEmpty { return nil }
        var text = text
        switch field.type {
        case "keywords":
            return .array(Self.words(text).map { .string($0) })
        case "number", "duration":
            if allowsDecimalComma, text.contains(","), !text.contains(".") {
                text = String(text.map { $0 == "," ? "." : $0 })
            }
        default: break
        }
        do {
            return try FieldInput.value(text, of: field)
        } catch {
            throw ImportLineError(reason: (error as? CommandFailure)?.sentence ?? "\(error)")
        }
    }

    /// The words of a list: those with a comma in them stand in one that is separated otherwise.
    static func words(_ text: String) -> [String] {
        let separator = (["|", ";"] as [Character]).first(where: text.contains) ?? ","
        return text.split(separator: separator).map(trimmed).filter { !$0.isEmpty }
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        var text = text[...]
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}
