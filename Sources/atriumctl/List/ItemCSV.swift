import AtriumFormats
import Interfaces
import JSONCodec

/// Items as lines of CSV, as `import` takes them back: values as they are, keywords with `|` between.
///
/// Fields with `details` are left out, as in every list; `import` keeps them.
struct ItemCSV {
    private let names: [String]
    private let derived: [String]

    /// The columns: all fields of a list, or those that somebody chose; then the parent, votes and comments.
    init(_ presentation: Presentation?, chosen: [String]?) {
        let known = presentation?.fields.filter { $0.of == nil }.map(\.name) ?? []
        let lists = presentation?.fields.filter { $0.of == nil && $0.details != true }
        names = chosen?.filter(known.contains) ?? lists?.map(\.name) ?? []
        var derived = ["parent"]
        if presentation?.votes != nil { derived += ["votes.score", "votes.count"] }
        if presentation?.comments != nil { derived.append("comments.count") }
        self.derived = chosen?.filter(derived.contains) ?? derived
    }

    /// The line that names the columns.
    var header: String { Self.line(["id"] + names + derived) }

    /// An item's line.
    func row(_ item: Item) -> String {
        let values = item.fields.value
        let fields = names.map { values[$0].map(Self.text) ?? "" }
        return Self.line([item.id] + fields + derived.map { Self.text($0, of: item) })
    }

    private static func text(_ name: String, of item: Item) -> String {
        switch name {
        case "parent": item.parent ?? ""
        case "votes.score": item.votes?.score.map(Wording.number) ?? ""
        case "votes.count": item.votes.map { "\($0.count)" } ?? ""
        default: item.comments.map { "\($0)" } ?? ""
        }
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .bool(let truth): truth ? "true" : "false"
        case .string(let text): text
        case .int(let number): "\(number)"
        case .double(let number): Wording.number(number)
        case .array(let elements): words(elements.map(text))
        case .object: String(decoding: JSON.encode(value), as: UTF8.self)
        }
    }

    /// A list of words; as a JSON array where `import` would make other words of them.
    private static func words(_ words: [String]) -> String {
        let isSplit = words.count == 1 && words[0].contains { ",;".contains($0) }
        let text = words.joined(separator: "|") + (isSplit ? "|" : "")
        guard text.hasPrefix("[") || ItemText.words(text) != words else { return text }
        return String(decoding: JSON.encode(words), as: UTF8.self)
    }

    /// Cells with commas between (RFC 4180).
    static func line(_ cells: [String]) -> String {
        cells.map { cell in
            let isPlain =
                !cell.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
                && cell.first?.isWhitespace != true && cell.last?.isWhitespace != true
            return isPlain ? cell : "\"\(cell.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",")
    }
}
