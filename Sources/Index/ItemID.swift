import AtriumKit

/// The rule on item ids: 1 to 200 bytes of UTF-8 in NFC, without control characters.
package enum ItemID {
    /// The rule, for people.
    package static let expectation = "1 to 200 bytes of UTF-8 in NFC without control characters"

    /// Returns the rule that an id breaks; nil if it breaks none.
    package static func problem(in id: String) -> String? {
        if isPlain(id) { return nil }
        let length = id.utf8.count
        guard length > 0 else { return "an empty one" }
        guard length <= 200 else { return "\(length) bytes" }
        for scalar in id.unicodeScalars where scalar.properties.generalCategory == .control {
            let code = String(scalar.value, radix: 16, uppercase: true)
            return "the control character U+\(String(repeating: "0", count: 4 - code.count))\(code)"
        }
        return isNormal(id) ? nil : "text that is not in NFC"
    }

    /// Whether an id is of 1 to 200 bytes, ASCII without control characters: as most are.
    package static func isPlain(_ id: String) -> Bool {
        var id = id
        return id.withUTF8 { bytes in
            guard 1...200 ~= bytes.count else { return false }
            var isPlain = true
            for byte in bytes { isPlain = isPlain && byte &- 0x20 < 0x5F }
            return isPlain
        }
    }

    /// Whether an id is in NFC.
    ///
    /// Strings compare by canonical equivalence; bytes differ between the forms.
    package static func isNormal(_ id: String) -> Bool {
        id.isASCII || id.precomposed.utf8.elementsEqual(id.utf8)
    }
}

extension String {
    fileprivate var isASCII: Bool {
        var text = self
        // Not byte by byte: a loop without an exit looks at many bytes at once.
        return text.withUTF8 { $0.reduce(0, |) } < 0x80
    }
}
