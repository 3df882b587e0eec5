import Interfaces
import JSONCodec

/// `FIELD=VALUE` words, typed as a container declares its fields.
enum FieldInput {
    /// The fields that words stand for; null for `FIELD=`, which takes the field away.
    ///
    /// - Parameters:
    ///   - words: `FIELD=VALUE`; a keywords field may stand several times.
    ///   - fields: What the container declares.
    /// - Returns: The members, in order.
    /// - Throws: ``CommandFailure`` of wrong usage that names the word.
    static func members(_ words: [String], fields: [Field]) throws -> [JSONValue.Member] {
        var object = JSONValue.object([])
        for word in words {
            guard let separator = word.firstIndex(of: "="), separator > word.startIndex else {
                throw CommandFailure(
                    "'\(word)' is no field with a value", hint: "write FIELD=VALUE.",
                    status: .usage)
            }
            let name = String(word[..<separator])
            let text = String(word[word.index(after: separator)...])
            guard let field = fields.first(where: { $0.name == name }) else {
                throw unknown(name, fields)
            }
            let value = text.isEmpty ? .null : try value(text, of: field)
            if case .array(let before)? = object[name], case .array(let more) = value {
                object[name] = .array(before + more)
            } else {
                object[name] = value
            }
        }
        return object.object ?? []
    }

    /// The value that a text stands for in a field.
    static func value(_ text: String, of field: Field) throws -> JSONValue {
        let value: JSONValue? =
            switch field.type {
            case "keywords": .array(keywords(text))
            case "number": finite(text).map(number)
            case "integer":
                (Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))).map { .int($0) }
            case "boolean": boolean(text)
            case "duration": duration(text).map(number)
            default: .string(text)
            }
        guard let value else {
            throw CommandFailure(
                "\(field.name): expected \(expectation(field.type)), found '\(text)'",
                status: .usage)
        }
        return value
    }

    /// Seconds: `7020`, `1h57m`, `117m`, `1:57:00`, `2:30` (minutes and seconds).
    static func duration(_ text: String) -> Double? {
        if let seconds = Double(text) { return seconds.isFinite && seconds >= 0 ? seconds : nil }
        if text.contains(":") { return clock(text) }
        var total = 0.0
        var digits = ""
        for character in text {
            if character.isNumber || character == "." {
                digits.append(character)
                continue
            }
            guard let unit = units[character], let amount = Double(digits) else { return nil }
            total += amount * unit
            digits = ""
        }
        return digits.isEmpty && !text.isEmpty ? total : nil
    }

    private static let units: [Character: Double] = ["d": 86400, "h": 3600, "m": 60, "s": 1]

    private static func clock(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count, (2...3).contains(parts.count),
            numbers.dropFirst().allSatisfy({ (0..<60).contains($0) }), numbers[0] >= 0
        else { return nil }
        return Double(numbers.reduce(0) { $0 * 60 + $1 })
    }

    private static func keywords(_ text: String) -> [JSONValue] {
        text.split(separator: ",").map { word in
            var word = word.drop { $0 == " " }
            while word.last == " " { word.removeLast() }
            return .string(String(word))
        }.filter { $0 != .string("") }
    }

    private static func boolean(_ text: String) -> JSONValue? {
        switch text.lowercased() {
        case "true", "yes", "on", "1": .bool(true)
        case "false", "no", "off", "0": .bool(false)
        default: nil
        }
    }

    private static func finite(_ text: String) -> Double? {
        guard let number = Double(text), number.isFinite else { return nil }
        return number
    }

    private static func number(_ number: Double) -> JSONValue {
        Int64(exactly: number).map { .int($0) } ?? .double(number)
    }

    private static func expectation(_ type: String) -> String {
        switch type {
        case "integer": "a whole number"
        case "boolean": "true or false"
        case "duration": "a duration such as 1h57m or seconds"
        default: "a number"
        }
    }

    private static func unknown(_ name: String, _ fields: [Field]) -> CommandFailure {
        CommandFailure(
            "there is no field '\(name)'", hint: Nearest.hint(name, fields.map(\.name)),
            status: .usage)
    }
}
