/// Bytes as text of 64 characters (RFC 4648).
enum Base64 {
    /// The value of each character; 255 for those that are none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()

    /// The bytes that a text stands for; nil where it is not whole, padded base64.
    static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let padding = characters.suffix(2).count { $0 == UInt8(ascii: "=") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        var (group, invalid): (UInt32, UInt8) = (0, 0)
        for (index, character) in characters.dropLast(padding).enumerated() {
            let value = values[Int(character)]
            invalid |= value
            group = group << 6 | UInt32(value & 63)
            guard index % 4 == 3 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
        }
        if padding > 0 {
            group <<= 6 * UInt32(padding)
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            if padding == 1 { bytes.append(UInt8(truncatingIfNeeded: group >> 8)) }
        }
        return invalid < 64 ? bytes : nil
    }
}
