import Interfaces

/// The rows of the lists.
struct ListView {
    let lists: ListPane
    let screen: ScreenParts
    let highlights: Highlights
    /// Whether keys are for the lists, not for the thread.
    let hasKeys: Bool
    let columns: Int

    /// The header, and the lines in sight.
    func rows(height: Int) -> [ViewRow] {
        var shown: [ViewRow] = []
        if lists.lists.count <= 1 { shown.append(lists.lists.first.map(header) ?? ViewRow()) }
        for index in lists.offset..<lists.offset + height {
            shown.append(lists.line(index).map { row(of: $0, at: index) } ?? ViewRow())
        }
        return shown
    }

    private func row(of line: ListPane.Line, at index: Int) -> ViewRow {
        switch line {
        case .title(let list):
            let list = lists.lists[list]
            let count = Wording.count(list.total)
            return ViewRow([Span(list.title, .bold), Span(" · \(count)", .dim)])
        case .header(let list): return header(lists.lists[list])
        case .empty(let list): return ViewRow([Span("  " + emptyText(lists.lists[list]), .dim)])
        case .item(let list, let place):
            let list = lists.lists[list]
            return ViewRow(
                cells(of: list.items[place], in: list, isHere: index == lists.cursor),
                at: .line(index))
        }
    }

    private func emptyText(_ list: ListPane.List) -> String {
        if !screen.search.isEmpty { return "nothing matches '\(screen.search)'" }
        if !screen.filtered.isEmpty { return "nothing passes the filters; x clears them" }
        return list.empty ?? "there is nothing here"
    }

    private func header(_ list: ListPane.List) -> ViewRow {
        let cells = list.columns.columns.map(\.title)
        return ViewRow(line(cells, list.columns) { _ in Look(isBold: true, isDim: true) })
    }

    private func cells(of item: Item, in list: ListPane.List, isHere: Bool) -> [Span] {
        let isLit = highlights.contains(item.id)
        let isFocus = item.id == screen.model.focus
        return line(list.columns.texts(of: item.id), list.columns) { column in
            var look = Look()
            if isLit { look = .warning }
            if column == 0 && isFocus { look.isBold = true }
            if isHere && hasKeys { look.isReverse = true }
            if isHere && !hasKeys { look.isUnderlined = true }
            return look
        }
    }

    private func line(
        _ cells: [CellText], _ columns: ItemColumns, look: (Int) -> Look
    ) -> [Span] {
        let widths = columns.widths(in: self.columns - 2)
        var spans = [Span(.blank(1), look(-1))]
        for (index, width) in widths.enumerated() where width > 0 && index < cells.count {
            if spans.count > 1 { spans.append(Span(.blank(ItemColumns.gap), look(-1))) }
            let isNumber = columns.columns[index].isNumber
            spans.append(Span(cells[index].filling(width, toRight: isNumber), look(index)))
        }
        return spans
    }
}
