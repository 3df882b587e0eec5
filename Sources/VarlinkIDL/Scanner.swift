/// Characters, blanks, comments and names: what the grammar is made of.
struct Scanner {
    /// The lines of the comment right above the next word; a blank line in between unties them.
    private(set) var comment: [String] = []

    /// Whether a line ended since the last word.
    private(set) var isOnNewLine = true

    private let characters: [Unicode.Scalar]
    private var offset = 0
    private var line = 1
    private var column = 1

    init(_ text: String) {
        characters = Array(text.unicodeScalars)
    }

    /// Where the next character stands.
    var position: TextPosition { TextPosition(line: line, column: column) }

    /// The next character; nil at the end.
    var next: Unicode.Scalar? { offset < characters.count ? characters[offset] : nil }

    /// Skips blanks, line ends and comments, and collects the comment above what follows.
    mutating func skipBlanks() {
        comment = []
        isOnNewLine = offset == 0
        var isLineBlank = isOnNewLine
        while let character = next {
            if Scanner.endsLine(character) {
                if isLineBlank { comment = [] }
                isOnNewLine = true
                isLineBlank = true
                advance()
            } else if character == "#" {
                let text = skipComment()
                // One behind a word belongs to that word's line, not to what follows.
                if isOnNewLine { comment.append(text) }
                isLineBlank = false
            } else if Scanner.isBlank(character) {
                advance()
            } else {
                return
            }
        }
    }

    /// Consumes this text, of ASCII without line ends, if it comes next; returns whether it did.
    mutating func consume(_ text: String) -> Bool {
        let wanted = text.unicodeScalars
        guard characters[offset...].starts(with: wanted) else { return false }
        for _ in wanted { advance() }
        return true
    }

    /// Consumes and returns ASCII letters, digits and whatever else is allowed; empty where there is none.
    mutating func takeWord(with others: String = "") -> String {
        var word = ""
        while let character = next,
            Scanner.isLetterOrDigit(character) || others.unicodeScalars.contains(character)
        {
            word.unicodeScalars.append(character)
            advance()
        }
        return word
    }

    /// What stands next, in words, for a message.
    var found: String {
        guard let next else { return "the end of the text" }
        if Scanner.endsLine(next) { return "the end of the line" }
        var rest = self
        let word = rest.takeWord(with: "_")
        guard word.isEmpty else { return "'\(excerpt(word))'" }
        // One that can't be seen, or would break the line of the message, is shown by its number.
        guard next.properties.generalCategory == .control || Scanner.isBlank(next) else {
            return "'\(next)'"
        }
        let code = String(next.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
    }

    static func isLetterOrDigit(_ character: Unicode.Scalar) -> Bool {
        isLetter(character) || ("0"..."9").contains(character)
    }

    static func isLetter(_ character: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(character) || ("A"..."Z").contains(character)
    }

    /// The standard's line ends; a carriage return and the line feed behind it are one.
    private static func endsLine(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "\n", "\r", "\u{2028}", "\u{2029}": true
        default: false
        }
    }

    /// The standard's whitespace within lines.
    private static func isBlank(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case " ", "\t", "\u{A0}", "\u{FEFF}", "\u{1680}", "\u{180E}", "\u{2000}"..."\u{200A}",
            "\u{202F}", "\u{205F}", "\u{3000}":
            true
        default: false
        }
    }

    private mutating func skipComment() -> String {
        advance()
        if next == " " { advance() }
        var text = ""
        while let character = next, !Scanner.endsLine(character) {
            text.unicodeScalars.append(character)
            advance()
        }
        return text
    }

    /// Steps over a character; over a carriage return together with its line feed.
    private mutating func advance() {
        if Scanner.endsLine(characters[offset]) {
            if characters[offset] == "\r", offset + 1 < characters.count,
                characters[offset + 1] == "\n"
            {
                offset += 1
            }
            line += 1
            column = 1
        } else {
            column += 1
        }
        offset += 1
    }
}
