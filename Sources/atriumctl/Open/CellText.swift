import CProcess
import Glibc

/// Text as the cells of a terminal hold it: nothing in it drives the terminal, and its width is known.
///
/// Widths are the C library's, which the terminal library counts with, too. What terminals draw in widths of their
/// own is simplified: of signs joined by U+200D the first is left, without its colour of skin; variation selectors are
/// dropped; U+FFFD stands for what has no width.
struct CellText: Hashable, Sendable {
    /// Signs of one or two columns, each with four combining marks at most.
    let text: String
    /// The columns that it takes.
    let width: Int

    static let empty = CellText(clean: "", width: 0)

    /// Makes text that may be anybody's presentable.
    init(_ raw: String) {
        if raw.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            (text, width) = (raw, raw.utf8.count)
            return
        }
        var (clean, width) = (String.UnicodeScalarView(), 0)
        for character in PrintableText.line(raw) {
            width += Self.append(character, to: &clean)
        }
        (text, self.width) = (String(clean), width)
    }

    private init(clean text: String, width: Int) {
        (self.text, self.width) = (text, width)
    }

    static func blank(_ count: Int) -> CellText {
        CellText(clean: String(repeating: " ", count: max(0, count)), width: max(0, count))
    }

    /// The text, or as much of it as fits into so many columns, with an ellipsis.
    func cut(to room: Int) -> CellText {
        guard width > room else { return self }
        guard room > 1 else { return room == 1 ? CellText(clean: "…", width: 1) : .empty }
        let start = split(at: room - 1).start
        return CellText(clean: start.text + "…", width: start.width + 1)
    }

    /// The text in exactly so many columns.
    func filling(_ room: Int, toRight: Bool = false) -> CellText {
        let room = max(0, room)
        let shown = cut(to: room)
        let gap = String(repeating: " ", count: room - shown.width)
        return CellText(clean: toRight ? gap + shown.text : shown.text + gap, width: room)
    }

    /// What fits into so many columns, and what is left.
    func split(at room: Int) -> (start: CellText, rest: CellText) {
        var used = 0
        var end = text.unicodeScalars.startIndex
        for index in text.unicodeScalars.indices {
            let next = Self.width(of: text.unicodeScalars[index])
            guard used + next <= room else { break }
            used += next
            end = text.unicodeScalars.index(after: index)
        }
        return (
            CellText(clean: String(text.unicodeScalars[..<end]), width: used),
            CellText(clean: String(text.unicodeScalars[end...]), width: width - used)
        )
    }

    /// What stands at the end, in so many columns at most.
    func end(_ room: Int) -> CellText {
        guard width > room else { return self }
        let (start, rest) = split(at: width - room)
        // A sign of two columns stands across the edge.
        return start.width < width - room ? rest.split(at: 2).rest : rest
    }

    /// The text in lines of so many columns, broken between words where there are any.
    func wrapped(to room: Int) -> [CellText] {
        let room = max(2, room)
        guard width > room else { return [self] }
        var lines: [CellText] = []
        var line = CellText.empty
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var word = CellText(clean: String(word), width: Self.width(of: word))
            if !lines.isEmpty || !line.isEmpty {
                if line.width + 1 + word.width <= room {
                    line = line + CellText.blank(1) + word
                    continue
                }
                lines.append(line)
            }
            while word.width > room {
                let (start, rest) = word.split(at: room)
                lines.append(start)
                word = rest
            }
            line = word
        }
        return lines + [line]
    }

    var isEmpty: Bool { width == 0 }

    static func + (left: CellText, right: CellText) -> CellText {
        CellText(clean: left.text + right.text, width: left.width + right.width)
    }

    /// What is counted with; it is asked for once, before the first text.
    private static let locale: Void = {
        setlocale(LC_CTYPE, "")
        if String(cString: nl_langinfo(nl_item(CODESET))) != "UTF-8" {
            setlocale(LC_CTYPE, "C.UTF-8")
        }
    }()

    /// Has the C library read and write UTF-8, whatever the environment says.
    static func prepare() { _ = locale }

    private static func width(of text: Substring) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
    }

    /// The columns of a scalar; negative where it has none.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x7F { return 1 }
        _ = locale
        return Int(process_columns(scalar.value))
    }

    /// Adds as much of a character as a cell holds, and returns its columns.
    private static func append(
        _ character: Character, to clean: inout String.UnicodeScalarView
    ) -> Int {
        var (columns, marks) = (0, 0)
        for scalar in character.unicodeScalars {
            if scalar.value == 0x200D { break }
            let isModifier = scalar.properties.isEmojiModifier && columns > 0
            if scalar.properties.isVariationSelector || isModifier { continue }
            switch width(of: scalar) {
            case 0:
                if scalar.properties.generalCategory == .format { continue }
                if columns == 0 {
                    clean.append("\u{FFFD}")
                    columns = 1
                } else if marks < 4 {
                    clean.append(scalar)
                    marks += 1
                }
            case 1...:
                clean.append(scalar)
                columns += width(of: scalar)
            default:
                clean.append("\u{FFFD}")
                columns += 1
            }
        }
        return columns
    }
}
