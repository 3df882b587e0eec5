/// Rows in aligned columns, under a header in upper case.
struct Table {
    /// A column's header and how it is laid out.
    struct Column {
        var title: String
        var isNumber = false
        /// Whether the words of states get their colour.
        var isState = false
        /// The least columns it is cut to; numbers are never cut.
        var leastWidth = 8

        /// A column of text.
        static func text(_ title: String, least: Int = 8) -> Column {
            Column(title: title, leastWidth: least)
        }

        /// A column of what is typed again, such as ids: the others give way first.
        static func identifier(_ title: String) -> Column { Column(title: title, leastWidth: 48) }

        /// A column of numbers, aligned to the right.
        static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }

        /// A column of words for states.
        static func state(_ title: String) -> Column { Column(title: title, isState: true) }
    }

    private let columns: [Column]
    private var rows: [[String]] = []
    /// The least widths: those of the rows that were shown before.
    private var shown: [Int]?
    private let gap = "  "

    /// A table without rows.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row; its texts may be anybody's.
    mutating func add(_ cells: [String]) {
        rows.append(cells.map(PrintableText.line))
    }

    /// The lines, cut to a width; nil: not cut.
    func lines(width: Int?, color: Bool = false) -> [String] {
        let widths = columnWidths(in: width)
        let header = line(columns.map { $0.title.uppercased() }, widths, width) { text, _ in
            Style.bold(text, enabled: color)
        }
        return [header]
            + rows.map { row in
                line(row, widths, width) { text, column in
                    guard column.isState, let style = Style.state(text) else { return text }
                    return style(text, enabled: color)
                }
            }
    }

    /// Writes the table to standard output.
    func show() { Output.lines(lines(width: Terminal.width, color: Terminal.hasColor)) }

    /// Writes the rows since the last time to standard output, and the header the first time.
    ///
    /// Columns only grow.
    mutating func showMore() {
        let all = lines(width: Terminal.width, color: Terminal.hasColor)
        Output.lines(Array(shown == nil ? all[...] : all.dropFirst()))
        keepWidths()
    }

    /// Takes the rows away; those that come are laid out as if they stood below.
    mutating func keepWidths() {
        shown = columnWidths(in: nil)
        rows = []
    }

    private func line(
        _ cells: [String], _ widths: [Int], _ limit: Int?, style: (String, Column) -> String
    ) -> String {
        var result = ""
        var room = limit ?? .max
        for (index, column) in columns.enumerated() where room > 0 {
            let isLast = index == columns.count - 1
            let width = min(widths[index], room)
            let text = DisplayWidth.cut(cells[index], to: width)
            let padding = String(repeating: " ", count: width - DisplayWidth.of(text))
            let shown = style(text, column)
            result += column.isNumber ? padding + shown : shown + (isLast ? "" : padding)
            room -= width
            if !isLast, room > gap.count {
                result += gap
                room -= gap.count
            } else {
                room = 0
            }
        }
        while result.hasSuffix(" ") { result.removeLast() }
        return result
    }

    /// The widths that the cells want; where that is too much, the widest text gives way first.
    private func columnWidths(in limit: Int?) -> [Int] {
        var widths = shown ?? columns.map { DisplayWidth.of($0.title) }
        for row in rows {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], DisplayWidth.of(cell))
            }
        }
        guard let limit else { return widths }
        var excess = widths.reduce(gap.count * (columns.count - 1), +) - limit
        while excess > 0 {
            let flexible = columns.indices.filter {
                !columns[$0].isNumber && widths[$0] > columns[$0].leastWidth
            }
            guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }
}
