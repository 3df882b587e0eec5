/// The rules for names.
public enum Names {
    /// Whether a text may name a container, a component or a section: `[a-z][a-z0-9-]{0,62}`.
    public static func isName(_ text: String) -> Bool {
        isName(text.utf8) { isLowerOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    /// Whether a text may name a field: `[a-z][a-zA-Z0-9_-]{0,62}`.
    public static func isField(_ text: String) -> Bool {
        isName(text.utf8) {
            isLowerOrDigit($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
    }

    private static func isName(_ bytes: String.UTF8View, _ isAllowed: (UInt8) -> Bool) -> Bool {
        guard let first = bytes.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
        else { return false }
        return bytes.count <= 63 && bytes.dropFirst().allSatisfy(isAllowed)
    }

    private static func isLowerOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
