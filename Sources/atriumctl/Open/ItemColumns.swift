import Interfaces
import JSONCodec

/// The columns of a list, and the texts of its items in them.
///
/// A column grows with what comes into it and does not shrink, so that scrolling moves nothing sideways.
struct ItemColumns {
    struct Column: Equatable {
        /// A field's name, or what is derived of votes and comments.
        var key: String
        var title: CellText
        var isNumber: Bool
        /// What its widest text takes.
        var width: Int
    }

    static let gap = 2
    /// The key of the column with one's own votes.
    static let mine = "votes.mine"
    private static let leastTitle = 16
    private static let mostText = 28
    private static let leastText = 8

    private(set) var columns: [Column]
    private let fields: [String: Field]
    private var cells: [String: [CellText]] = [:]
    private var titles: [String: String] = [:]

    /// Columns as a definition presents them: the title first.
    init(fields: [Field], present: Present?, derived: [String], showsIDs: Bool) {
        self.fields = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
        let title = Self.title(fields, present)
        let rest = present?.columns ?? Self.usual(fields) + derived
        var keys = [title] + [present?.subtitle].compactMap(\.self)
        if showsIDs { keys.append("id") }
        for key in rest where !keys.contains(key) {
            keys.append(key)
            if key == "votes.score", derived.contains(Self.mine) { keys.append(Self.mine) }
        }
        columns = []
        for key in keys {
            guard let column = column(key), !columns.contains(where: { $0.key == key })
            else { continue }
            columns.append(column)
        }
    }

    /// The field that an item is called by, or `id`.
    static func title(_ fields: [Field], _ present: Present?) -> String {
        let texts = fields.filter { $0.type == "text" }
        let named = texts.first { ["title", "name"].contains($0.name) }
        return present?.title ?? (named ?? texts.first { $0.required } ?? texts.first)?.name ?? "id"
    }

    private static func usual(_ fields: [Field]) -> [String] {
        fields.filter { $0.of == nil && !["image", "markdown"].contains($0.type) }.map(\.name)
    }

    private func column(_ key: String) -> Column? {
        let (title, isNumber): (String, Bool)
        switch key {
        case "id": (title, isNumber) = ("id", false)
        case "votes.score": (title, isNumber) = ("votes", true)
        case "votes.count": (title, isNumber) = ("voters", true)
        case Self.mine: (title, isNumber) = ("you", true)
        case "comments.count": (title, isNumber) = ("talk", true)
        default:
            guard let field = fields[key] else { return nil }
            (title, isNumber) = (field.title ?? field.name, FieldText.isNumber(field.type))
        }
        let text = CellText(title.uppercased())
        return Column(key: key, title: text, isNumber: isNumber, width: text.width)
    }

    /// Adds an item, new or changed.
    mutating func add(_ item: Item) {
        let values = item.fields.value
        var texts = columns.map { CellText(text($0.key, of: item, values)) }
        titles[item.id] = texts[0].text
        if let children = item.children { texts[0] = texts[0] + CellText(" ▸\(children)") }
        cells[item.id] = texts
        for (index, text) in texts.enumerated() {
            columns[index].width = max(columns[index].width, text.width)
        }
    }

    /// The texts of an item that was taken in.
    func texts(of item: String) -> [CellText] { cells[item] ?? [] }

    /// What an item is called; nil: it was not taken in.
    func title(of item: String) -> String? { titles[item] }

    private func text(_ key: String, of item: Item, _ values: JSONValue) -> String {
        switch key {
        case "id": item.id
        case "votes.score": item.votes.map(TallyText.short) ?? ""
        case "votes.count": item.votes.map { Wording.count($0.count) } ?? ""
        case Self.mine: item.votes?.mine.map(Wording.number) ?? ""
        case "comments.count": item.comments.map { Wording.count($0) } ?? ""
        default: shown(values[key], of: fields[key], in: item)
        }
    }

    private func shown(_ value: JSONValue?, of field: Field?, in item: Item) -> String {
        guard let value, let field else { return field?.name == columns[0].key ? item.id : "" }
        return FieldText.shown(value, type: field.type) + (field.unit.map { " \($0)" } ?? "")
    }

    /// The fields of an item that stand in no column, and what is known of it beyond them, as names and values.
    func details(of item: Item, beyond: JSONObject) -> [(name: String, text: String)] {
        let shown = Set(columns.map(\.key))
        var details: [(name: String, text: String)] = []
        guard case .object(let members) = item.fields.value, case .object(let more) = beyond.value
        else { return [] }
        for member in members + more where !shown.contains(member.name) {
            let field = fields[member.name]
            // A picture that is kept here says nothing in letters.
            let isPicture = field?.type == "image"
            if isPicture, member.value.string.map({ !$0.hasPrefix("http") }) ?? true { continue }
            let text = FieldText.shown(member.value, type: field?.type ?? "")
            details.append(
                (field?.title ?? member.name, text + (field?.unit.map { " \($0)" } ?? "")))
        }
        return details
    }

    /// How wide each column is drawn in so many columns of the terminal.
    ///
    /// Texts give way first, then whole columns from the right; the title has what is left. A column of width 0 is left
    /// out.
    func widths(in room: Int) -> [Int] {
        guard let title = columns.first else { return [] }
        var widths = columns.map { $0.isNumber ? $0.width : min($0.width, Self.mostText) }
        func excess() -> Int {
            widths.reduce(-Self.gap) { $1 > 0 ? $0 + $1 + Self.gap : $0 } - room
        }
        func give(_ index: Int, downTo least: Int) {
            widths[index] -= min(max(0, excess()), max(0, widths[index] - least))
        }
        let texts = columns.indices.dropFirst().reversed().filter { !columns[$0].isNumber }
        let least = min(title.width, Self.leastTitle, room)
        widths[0] = min(title.width, Self.mostText)
        for index in texts { give(index, downTo: Self.leastTitle) }
        give(0, downTo: least)
        for index in texts { give(index, downTo: Self.leastText) }
        // What people vote and say stays longest.
        let fields = columns.indices.dropFirst().filter { self.fields[columns[$0].key] != nil }
        let derived = columns.indices.dropFirst().filter { self.fields[columns[$0].key] == nil }
        for index in fields.reversed() + derived.reversed() where excess() > 0 { widths[index] = 0 }
        widths[0] = max(1, min(title.width, widths[0] - excess()))
        return widths
    }
}
