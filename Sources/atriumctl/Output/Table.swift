/// Rows in aligned columns, under a header in upper case.
///
/// On a terminal that is too narrow, columns without a text go first. Then texts are cut, each to its least width: those of
/// dispensable columns first, and what is typed again in the middle. Where that is not enough, columns are left out, dispensable ones
/// first, then from the right; ``note(width:)`` names them.
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
        /// The least columns it is cut to; numbers are never cut.
        var leastWidth = 8
        var priority = Priority.usual

        /// A column of text.
        static func text(
            _ title: String, least: Int = 8, _ priority: Priority = .usual
        ) -> Column {
            Column(title: title, leastWidth: least, priority: priority)
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

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row; its texts may be anybody's.
    mutating func add(_ cells: [String]) {
        rows.append(cells.map(PrintableText.line))
        for (index, cell) in cells.enumerated() where !cell.isEmpty { filled.insert(index) }
    }

    /// The lines, cut to a width; nil: not cut.
    func lines(width: Int?, color: Bool = false) -> [String] {
        let layout = layout(in: width)
        let header = line(columns.map { $0.title.uppercased() }, layout, width) { text, _ in
            Style.bold(text, enabled: color)
        }
        return [header]
            + rows.map { row in
                line(row, layout, width) { text, column in
                    guard column.isState, let style = Style.state(text) else { return text }
                    return style(text, enabled: color)
                }
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
        _ cells: [String], _ layout: [(column: Int, width: Int)], _ limit: Int?,
        style: (String, Column) -> String
    ) -> String {
        var result = ""
        var room = limit ?? .max
        for (index, width) in layout where room > 0 {
            let column = columns[index]
            let isLast = index == layout.last?.column
            let width = min(width, room)
            let text =
                column.keepsEnd
                ? DisplayWidth.cutMiddle(cells[index], to: width)
                : DisplayWidth.cut(cells[index], to: width)
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

    /// The columns that are shown, and how wide.
    private func layout(in limit: Int?) -> [(column: Int, width: Int)] {
        var widths = wantedWidths
        var kept = shown?.columns ?? Array(columns.indices)
        guard let limit else { return kept.map { ($0, widths[$0]) } }
        func excess(_ widths: [Int]) -> Int {
            kept.reduce(gap.count * (kept.count - 1)) { $0 + widths[$1] } - limit
        }
        let least = columns.indices.map {
            columns[$0].isNumber ? widths[$0] : min(widths[$0], columns[$0].leastWidth)
        }
        if shown == nil {
            if excess(widths) > 0, !filled.isEmpty { kept.removeAll { !filled.contains($0) } }
            while excess(least) > 0, let place = firstToGo(of: kept) { kept.remove(at: place) }
        }
        for group in [kept.filter { columns[$0].priority == .dispensable }, kept] {
            // The widest text gives way first.
            while excess(widths) > 0,
                let widest = group.filter({ widths[$0] > least[$0] })
                    .max(by: { widths[$0] < widths[$1] })
            {
                widths[widest] -= 1
            }
        }
        return kept.map { ($0, widths[$0]) }
    }

    /// The place of the column that is left out first; nil where the others are essential.
    private func firstToGo(of kept: [Int]) -> Int? {
        guard kept.count > 1 else { return nil }
        return kept.indices.reversed().filter { columns[kept[$0]].priority != .essential }
            .max { columns[kept[$0]].priority.rawValue < columns[kept[$1]].priority.rawValue }
    }
}
