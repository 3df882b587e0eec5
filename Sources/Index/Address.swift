/// The address that a field of the type `url` holds.
///
/// Front ends make links of it: that is why schemes that a browser would run (`javascript:`) are none.
enum Address {
    /// The most bytes of an address.
    static let mostBytes = 2_048

    static let expectation =
        "a URL of \(mostBytes) bytes at most that begins with https://, http:// or mailto:"

    /// Whether a text is one.
    static func isAddress(_ text: String) -> Bool {
        isOfWeb(text) || text.hasScheme("mailto:") && isPlain(text)
    }

    /// Whether a text is the address of something in the web.
    static func isOfWeb(_ text: String) -> Bool {
        guard isPlain(text), text.hasScheme("https://") || text.hasScheme("http://") else {
            return false
        }
        let host = text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).first
        return host.map { !"/?#:@".utf8.contains($0) } ?? false
    }

    /// Whether a text has nothing that ends an address where it is read, or hides a part of it.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= mostBytes
            && text.unicodeScalars.allSatisfy { scalar in
                if scalar.isASCII {
                    return scalar.value > 0x20 && scalar.value < 0x7F
                        && !"<>\"`\\".unicodeScalars.contains(scalar)
                }
                switch scalar.properties.generalCategory {
                case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator:
                    return false
                default: return true
                }
            }
    }
}

/// The value of a field of the type `image`: the address of a picture, the picture itself, or the name of a picture
/// that the item's source has.
package enum PictureText {
    /// The prefix of the name of a picture that the item's source has.
    package static let sourceScheme = "source:"
    private static let nameBytes = 1_024

    static let expectation =
        "an image: a URL of \(Address.mostBytes) bytes at most that begins with https:// or http://, "
        + "data:image/TYPE;base64,… with the type png, jpeg, gif, webp or avif, or source:NAME for a picture "
        + "that its source has"

    // No SVG: that may have programs in it.
    private static let types = ["png", "jpeg", "gif", "webp", "avif"]

    /// Whether a text is one.
    static func isPicture(_ text: String) -> Bool {
        if Address.isOfWeb(text) || isOfSource(text) { return true }
        for type in types {
            let head = "data:image/\(type);base64,"
            if text.hasScheme(head) { return isBase64(text.utf8.dropFirst(head.utf8.count)) }
        }
        return false
    }

    /// Whether a text names a picture that the item's source has.
    private static func isOfSource(_ text: String) -> Bool {
        guard text.hasPrefix(sourceScheme) else { return false }
        let name = text.unicodeScalars.dropFirst(sourceScheme.unicodeScalars.count)
        return !name.isEmpty && text.utf8.count <= nameBytes
            && name.allSatisfy { $0.properties.generalCategory != .control }
    }

    private static func isBase64(_ bytes: Substring.UTF8View) -> Bool {
        var (count, padding) = (0, 0)
        for byte in bytes {
            count += 1
            switch byte {
            case UInt8(ascii: "="): padding += 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                guard padding == 0 else { return false }
            default: return false
            }
        }
        return count > 0 && count % 4 == 0 && padding <= 2
    }
}

extension String {
    /// Whether the address begins with this scheme and has more after it; letter case is ignored.
    fileprivate func hasScheme(_ scheme: String) -> Bool {
        utf8.count > scheme.utf8.count
            && zip(utf8, scheme.utf8).allSatisfy { byte, expected in
                byte == expected
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                        && byte | 0x20 == expected
            }
    }
}
