import Interfaces
import JSONCodec

/// The pages of a list, printed as they come.
struct ListPrinter {
    /// After how many items a table is printed: columns are as wide as the widest of these want.
    private static let batch = 10_000

    private let form: ListCommand.Form
    private let chosen: [String]?
    private var presentation: Presentation?
    private var items: [Item] = []
    private var table: ItemTable?
    private var csv: ItemCSV?
    /// How many items there were.
    private(set) var count = 0

    /// `closed for votes`, where the container is.
    var closed: String? { FactsText.closed(presentation?.votes, presentation?.comments) }

    /// Prints in a form, these fields alone where somebody chose some.
    init(form: ListCommand.Form, fields: [String]?) {
        self.form = form
        chosen = fields
    }

    /// Adds a page, decoded and as it was received.
    mutating func add(_ page: Contents.List.Reply, _ object: JSONObject) {
        count += page.items.count
        presentation = presentation ?? page.presentation
        switch form {
        case .json: Output.rawLine(object.bytes)
        case .ids:
            Output.lines(
                Terminal.isOutputTerminal
                    ? page.items.map { PrintableText.line($0.id) } : page.items.map(\.id))
        case .csv:
            let text = csv ?? ItemCSV(presentation, chosen: chosen)
            Output.lines((csv == nil ? [text.header] : []) + page.items.map { text.row($0) })
            csv = text
        case .table:
            items += page.items
            if items.count >= Self.batch { showItems() }
        }
    }

    /// Which columns the terminal has no room for; nil: all are shown.
    var missing: String? { table?.table.note(width: Terminal.width) }

    /// Prints what is left.
    mutating func finish() {
        if form == .table, table == nil || !items.isEmpty { showItems() }
    }

    private mutating func showItems() {
        var table =
            table
            ?? ItemTable(
                fields: presentation?.fields ?? [], present: presentation?.present, chosen: chosen,
                items: items)
        table.show(items)
        self.table = table
        items = []
    }
}
