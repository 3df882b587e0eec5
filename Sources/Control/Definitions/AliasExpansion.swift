/// How long a text of YAML would be with each alias replaced by what it stands for.
///
/// The parser hashes the keys of mappings, which may be aliases: without a limit a text of some lines could keep it
/// for years. What an anchor holds ends before its first alias, so counting up to there finds at least all of it.
struct AliasExpansion {
    /// The maximum number of bytes that the aliases of one text may stand for.
    static let mostBytes = 8 << 20

    /// The number of bytes that all aliases stand for, at most: words that only look like aliases count, too.
    private(set) var bytes = 0

    /// The place and ``bytes`` at each anchor that has no alias yet.
    private var open: [Substring: (place: Int, bytes: Int)] = [:]
    private var sizes: [Substring: Int] = [:]

    init(of text: String) {
        // Whether the last character was one behind which YAML begins a node.
        var begins = true
        var index = text.utf8.startIndex
        var place = 0
        while index < text.utf8.endIndex {
            let byte = text.utf8[index]
            text.utf8.formIndex(after: &index)
            place += 1
            if begins, byte == UInt8(ascii: "&") || byte == UInt8(ascii: "*") {
                let name = text[index...].prefix { !" \t\r\n,[]{}".contains($0) }
                if byte == UInt8(ascii: "&") {
                    open[name] = (place, bytes)
                } else {
                    use(name, at: place)
                }
            }
            begins = " \t\r\n,[{".utf8.contains(byte)
        }
    }

    private mutating func use(_ name: Substring, at place: Int) {
        if let anchor = open.removeValue(forKey: name) {
            sizes[name] = place - anchor.place + bytes - anchor.bytes
        }
        guard let size = sizes[name] else { return }
        bytes = min(bytes + size, Self.mostBytes + 1)
    }
}
