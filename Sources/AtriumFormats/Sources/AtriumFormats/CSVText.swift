/// The text of cells: UTF-8, or Windows-1252 where the first that is not ASCII is not UTF-8.
struct CSVText {
    private enum Encoding {
        case open
        case utf8
        case windows1252
    }

    private var encoding = Encoding.open

    /// The text of a cell; nil where it is not in the encoding of those before.
    mutating func decode(_ bytes: [UInt8]) -> String? {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        switch encoding {
        case .utf8: return String(validating: bytes, as: UTF8.self)
        case .windows1252: return Self.windows1252(bytes)
        case .open:
            if let text = String(validating: bytes, as: UTF8.self) {
                encoding = .utf8
                return text
            }
            encoding = .windows1252
            return Self.windows1252(bytes)
        }
    }

    private static func windows1252(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            if (0x80..<0xA0).contains(byte) {
                text.append(upper[Int(byte) - 0x80])
            } else {
                text.append(UnicodeScalar(byte))
            }
        }
        return String(text)
    }

    /// What 0x80 to 0x9F stand for; five stand for nothing.
    private static let upper = Array(
        "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ".unicodeScalars)
}
