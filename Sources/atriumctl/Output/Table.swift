/// Rows in aligned columns, under a header in upper case.
///
/// On a terminal that is too narrow, columns are left out and texts are cut, as ``TableLayout`` says; ``note(width:)`` names
/// the columns that are left out. Elsewhere nothing is cut, and a text longer than ``widestPadding`` makes its own row
/// longer, and not all others.
struct Table {
    /// A column's header and how it is laid out.
    struct Column {
        /// Which columns are left out first.
        enum Priority: Int {
            case essential
            case usual
            case dispensable
        }

        var title: String
        var isNumber = false
        /// Whether the words of states get their colour.
        var isState = false
        /// Whether what is cut lacks its middle, not its end: ids often differ at their ends.
        var keepsEnd = false
        /// Whether a text that is too long goes on below, broken between words; of the last column alone.
        var wraps = false
        /// What it is cut to at the least as long as other columns can be left out; numbers are never cut.
        var leastWidth = 8
        var priority = Priority.usual

        static func text(
            _ title: String, least: Int = 8, _ priority: Priority = .usual
        ) -> Column {
            Column(title: title, leastWidth: least, priority: priority)
        }

        /// A column of sentences at the end of a table, which go on below where they are too long.
        static func sentences(_ title: String) -> Column {
            Column(title: title, wraps: true, leastWidth: 32, priority: .essential)
        }

        /// A column of what is typed again, such as ids: by default the others give way first.
        static func identifier(
            _ title: String, least: Int = 48, _ priority: Priority = .essential
        ) -> Column {
            Column(title: title, keepsEnd: true, leastWidth: least, priority: priority)
        }

        /// A column of numbers, aligned to the right.
        static func number(_ title: String, _ priority: Priority = .usual) -> Column {
            Column(title: title, isNumber: true, priority: priority)
        }

        /// A column of words for states.
        static func state(_ title: String) -> Column {
            Column(title: title, isState: true, priority: .essential)
        }
    }

    /// Up to which width cells are padded where there is no terminal.
    private static let widestPadding = 80

    private let columns: [Column]
    private var rows: [[String]] = []
    /// In which columns a row had text.
    private var filled: Set<Int> = []
    /// What rows that were shown before decided: the widths that they want, and which columns there are.
    private var shown: (wanted: [Int], columns: [Int])?
    private let gap = "  "

    /// A table without rows.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row; its texts may be anybody's.
    mutating func add(_ cells: [String]) {
        rows.append(cells.map(PrintableText.line))
        for (index, cell) in cells.enumerated() where !cell.isEmpty { filled.insert(index) }
    }

    /// The lines, cut to a width; nil: not cut.
    func lines(width: Int?, color: Bool = false) -> [String] {
        let layout = layout(in: width)
        let padding = width ?? Self.widestPadding
        let header = line(columns.map { $0.title.uppercased() }, layout, padding) { text, _ in
            Style.bold(text, enabled: color)
        }
        return [header]
            + rows.flatMap { wrapped($0, layout) }.map { row in
                line(row, layout, padding) { text, column in
                    guard column.isState, let style = Style.state(text) else { return text }
                    return style(text, enabled: color)
                }
            }
    }

    /// A row, and the rows with what its last column has no room for.
    private func wrapped(_ row: [String], _ layout: [(column: Int, width: Int)]) -> [[String]] {
        guard let last = layout.last, columns[last.column].wraps else { return [row] }
        let lines = DisplayWidth.wrap(row[last.column], to: last.width, breaksWords: true)
        return lines.enumerated().map { place, text in
            var part = place == 0 ? row : row.map { _ in "" }
            part[last.column] = text
            return part
        }
    }

    /// Which columns have no room in a width, and where they are; nil: all have.
    func note(width: Int?) -> String? {
        let kept = layout(in: width).map(\.column)
        let missing = columns.indices.filter { !kept.contains($0) && filled.contains($0) }
        guard !missing.isEmpty else { return nil }
        let names = missing.map { columns[$0].title }.joined(separator: ", ")
        return "no room for: \(names); a wider terminal shows all, as does a pipe: | less -S"
    }

    /// Writes the table to standard output, and to standard error what it has no room for.
    func show() {
        Output.lines(lines(width: Terminal.width, color: Terminal.hasColor))
        if let note = note(width: Terminal.width) { Output.note(note) }
    }

    /// Writes the rows since the last time to standard output, and the header the first time.
    ///
    /// Columns only grow.
    mutating func showMore() {
        let all = lines(width: Terminal.width, color: Terminal.hasColor)
        Output.lines(Array(shown == nil ? all[...] : all.dropFirst()))
        keepLayout(width: Terminal.width)
    }

    /// Takes the rows away; those that come are laid out as if they stood below.
    mutating func keepLayout(width: Int?) {
        shown = (wantedWidths, layout(in: width).map(\.column))
        rows = []
    }

    private func line(
        _ cells: [String], _ layout: [(column: Int, width: Int)], _ widestPadding: Int,
        style: (String, Column) -> String
    ) -> String {
        var result = layout.map { index, width in
            let column = columns[index]
            let text =
                column.keepsEnd
                ? DisplayWidth.cutMiddle(cells[index], to: width)
                : DisplayWidth.cut(cells[index], to: width)
            let missing = min(width, widestPadding) - DisplayWidth.of(text)
            let padding = String(repeating: " ", count: max(0, missing))
            let shown = style(text, column)
            return column.isNumber ? padding + shown : shown + padding
        }.joined(separator: gap)
        while result.hasSuffix(" ") { result.removeLast() }
        return result
    }

    /// The widths that the columns want.
    private var wantedWidths: [Int] {
        var widths = shown?.wanted ?? columns.map { DisplayWidth.of($0.title) }
        for row in rows {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], DisplayWidth.of(cell))
            }
        }
        return widths
    }

    /// The columns that are shown, and how wide; together they fit, unless a single one is left.
    private func layout(in limit: Int?) -> [(column: Int, width: Int)] {
        var layout = TableLayout(
            columns: columns, widths: wantedWidths, kept: shown?.columns ?? Array(columns.indices),
            gap: gap.count)
        // Rows that follow have the columns of those before.
        if let limit { layout.fit(in: limit, empty: shown == nil ? emptyColumns : nil) }
        return layout.kept.map { ($0, layout.widths[$0]) }
    }

    /// The columns without a text; none before there is a row.
    private var emptyColumns: Set<Int> {
        filled.isEmpty ? [] : Set(columns.indices).subtracting(filled)
    }
}
