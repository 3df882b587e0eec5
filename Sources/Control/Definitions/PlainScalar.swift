import AtriumKit

/// The value of an unquoted YAML scalar.
///
/// It is read as in YAML 1.2. A scalar that YAML 1.1 would read differently is refused.
enum PlainScalar {
    /// A scalar that two versions of YAML read differently, with what to write instead.
    struct Trap: Error {
        var reason: String
        var hint: String
    }

    private static let booleans: Set = ["yes", "no", "on", "off", "y", "n"]

    /// Whether a scalar stands for nothing.
    static func isNull(_ text: String) -> Bool {
        ["", "~", "null", "Null", "NULL"].contains(text)
    }

    static func value(of text: String) throws(Trap) -> Value {
        if isNull(text) { return .null }
        switch text {
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        if booleans.contains(text.lowercased()) {
            throw Trap(
                reason: "'\(text)' is a boolean in YAML 1.1 and a word in YAML 1.2",
                hint: "write true or false, or quote it: \"\(text)\"")
        }
        guard let first = text.utf8.first, isNumberStart(first) else { return .text(text) }
        try refuseNumberTraps(text)
        if let int = Int64(text) { return .int(int) }
        if isDecimal(text), let number = Double(text) {
            guard number.isFinite else {
                throw Trap(reason: "'\(text)' is too large a number", hint: "at most 1.8e308")
            }
            return .number(number)
        }
        return .text(text)
    }

    private static func isNumberStart(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E].contains(byte)
    }

    private static func refuseNumberTraps(_ text: String) throws(Trap) {
        let digits = text.drop { $0 == "-" || $0 == "+" }
        if digits.contains(":"), digits.allSatisfy({ $0.isASCIIDigit || $0 == ":" || $0 == "." }) {
            throw Trap(
                reason: "'\(text)' is a number to base 60 in YAML 1.1",
                hint: "write the seconds as a number, or quote it: \"\(text)\"")
        }
        if digits.count > 1, digits.first == "0", digits.allSatisfy({ $0.isASCIIDigit }) {
            throw Trap(
                reason: "'\(text)' is octal in YAML 1.1 and decimal in YAML 1.2",
                hint: "drop the leading zero, or quote it: \"\(text)\"")
        }
        if digits.first?.isASCIIDigit == true, digits.contains("_"),
            digits.allSatisfy({ $0.isASCIIDigit || $0 == "_" || $0 == "." })
        {
            throw Trap(
                reason: "'\(text)' is a number in YAML 1.1 and a word in YAML 1.2",
                hint: "write it without '_', or quote it: \"\(text)\"")
        }
        if ["0x", "0o", "0b"].contains(digits.prefix(2).lowercased()) {
            throw Trap(
                reason: "'\(text)' is not a decimal number",
                hint: "write it to base 10, or quote it: \"\(text)\"")
        }
        if [".inf", ".nan"].contains(digits.lowercased()) {
            throw Trap(reason: "'\(text)' is no finite number", hint: "leave the bound out")
        }
    }

    /// Whether a text has only digits, at most one point and at most one exponent.
    ///
    /// `Double` also reads other forms, such as hex and "infinity", which are not numbers in YAML.
    private static func isDecimal(_ text: String) -> Bool {
        var sawDigit = false
        for character in text {
            if character.isASCIIDigit {
                sawDigit = true
            } else if !"+-.eE".contains(character) {
                return false
            }
        }
        return sawDigit
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
