/// The modules that a source text imports, in order.
///
/// Knows access levels, attributes, `import struct Module.Name`, and leaves out what stands in a
/// comment or in a text of several lines.
func imports(in source: String) -> [String] {
    var isText = false
    return source.split(separator: "\n").compactMap { line in
        let quotes = line.split(separator: "\"\"\"", omittingEmptySubsequences: false).count - 1
        if quotes % 2 == 1 { isText.toggle() }
        guard !isText else { return nil }
        var words = line.split(whereSeparator: \.isWhitespace)[...]
        while let word = words.first, modifiers.contains(String(word)) || word.hasPrefix("@") {
            words.removeFirst()
        }
        guard words.popFirst() == "import" else { return nil }
        if let word = words.first, kinds.contains(String(word)) { words.removeFirst() }
        return words.first.map { String($0.prefix { $0 != "." && $0 != ";" }) }
    }
}

private let modifiers: Set = ["public", "package", "internal", "fileprivate", "private"]
private let kinds: Set = [
    "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
]
