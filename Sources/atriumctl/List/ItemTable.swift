import Interfaces
import JSONCodec

/// Items as a table: a column for the id, then those that a presentation names, or else one for each field, and votes and
/// comments where there are such components.
struct ItemTable {
    /// The names of what is derived of votes and comments, in the words of presentations, with the columns' titles.
    private static let derived = [
        "votes.score": "votes", "votes.count": "voters", "comments.count": "comments",
    ]

    /// Names of fields, and of values that are derived from votes and comments.
    private let keys: [String]
    private let fields: [String: Field]
    private let hasChildren: Bool
    private(set) var table: Table

    /// Lays out columns; those that are empty in the first items are left out, as are votes and comments that a
    /// presentation does not name, unless they are asked for.
    init(
        fields declared: [Field], present: Present?, chosen: [String]? = nil, items: [Item],
        showsVotes: Bool = false
    ) {
        // A date that follows from a field is in no item.
        let known = declared.filter { $0.of == nil }
        var derived: [String] = []
        if items.contains(where: { $0.votes != nil }) { derived.append("votes.score") }
        if items.contains(where: { $0.comments != nil }) { derived.append("comments.count") }
        let named = [present?.title, present?.subtitle].compactMap(\.self)
        let usual = known.filter { $0.details != true && $0.type != "image" }
        let presented = present?.columns.map { columns in
            named.filter { !columns.contains($0) } + columns + (showsVotes ? derived : [])
        }
        var keys: [String] = []
        for key in chosen ?? presented ?? usual.map(\.name) + derived where !keys.contains(key) {
            let isKnown = known.contains { $0.name == key } || Self.derived[key] != nil
            if isKnown { keys.append(key) }
        }
        let fields = Dictionary(known.map { ($0.name, $0) }) { first, _ in first }
        // What people know an item by. The id stays, too, because other commands take it.
        let title = keys.first { key in fields[key].map { !FieldText.isNumber($0.type) } ?? false }
        // What somebody asked for goes last of the others.
        let dispensable = chosen == nil ? Table.Column.Priority.dispensable : .usual
        var columns = [Table.Column.identifier("id")]
        columns += keys.map { key -> Table.Column in
            guard let field = fields[key], !FieldText.isNumber(field.type) else {
                let name = fields[key]?.name ?? Self.derived[key] ?? key
                return .number(name, key == "comments.count" ? dispensable : .usual)
            }
            return key == title
                ? .text(field.name, least: 20, .essential) : .text(field.name, dispensable)
        }
        hasChildren = items.contains { $0.children != nil }
        if hasChildren { columns.append(.number("inside")) }
        self.keys = keys
        self.fields = fields
        table = Table(columns)
    }

    /// Writes items to standard output, under the header the first time.
    mutating func show(_ items: [Item]) {
        for item in items { add(item) }
        table.showMore()
    }

    /// Adds an item's row.
    mutating func add(_ item: Item) {
        let values = item.fields.value
        let cells = keys.map { text($0, of: item, values) }
        let children = hasChildren ? [item.children.map { Wording.count($0) } ?? ""] : []
        table.add([item.id] + cells + children)
    }

    private func text(_ key: String, of item: Item, _ values: JSONValue) -> String {
        switch key {
        case "votes.score": return item.votes.map(TallyText.short) ?? ""
        case "votes.count": return item.votes.map { Wording.count($0.count) } ?? ""
        case "comments.count": return item.comments.map { Wording.count($0) } ?? ""
        default:
            guard let field = fields[key], let value = values[key] else { return "" }
            let unit = field.unit.map { " \($0)" } ?? ""
            return FieldText.shown(value, type: field.type) + unit
        }
    }
}
