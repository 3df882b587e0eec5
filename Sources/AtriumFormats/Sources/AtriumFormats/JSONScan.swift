/// Follows how deep JSON nests, byte by byte, without judging it.
struct JSONScan {
    /// How many arrays and objects are open.
    private(set) var depth = 0
    private(set) var isInString = false
    private var isEscaped = false

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    mutating func consume(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }

    /// Whether an object is no item, but has an array of objects in it: `{"count": 2, "films": [{`.
    static func wrapsArray(_ text: ArraySlice<UInt8>) -> Bool {
        var scan = JSONScan()
        var before: UInt8 = 0
        var word: [UInt8] = []
        for byte in text where scan.isInString || !isSpace(byte) {
            if scan.isInString {
                word.append(byte)
            } else if before == UInt8(ascii: "["), byte == UInt8(ascii: "{") {
                return true
            } else if byte == UInt8(ascii: "\"") {
                word = []
            } else if byte == UInt8(ascii: ":"), scan.depth == 1, itemMembers.contains(word) {
                return false
            }
            scan.consume(byte)
            before = byte
        }
        return false
    }

    /// What an item or a record has, as read with the quote behind it.
    private static let itemMembers = ["id", "fields", "component", "atrium"].map {
        Array("\($0)\"".utf8)
    }
}
