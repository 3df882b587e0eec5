import Interfaces

extension Browser {
    // MARK: - The lists

    /// The header, and the lines in sight.
    var listRows: [ViewRow] {
        let areas = areas
        var shown: [ViewRow] = []
        if lists.lists.count <= 1 { shown.append(lists.lists.first.map(header) ?? ViewRow()) }
        for index in lists.offset..<lists.offset + areas.list {
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
            if isHere && pane == .list { look.isReverse = true }
            if isHere && pane == .thread { look.isUnderlined = true }
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

    // MARK: - The thread

    /// What the thread is about, and its rows in sight.
    var threadRows: [ViewRow] {
        let areas = areas
        guard areas.separator > 0 else { return [] }
        var shown = [separator]
        for (block, row) in thread.visible(areas.thread) {
            let isHere = pane == .thread && block == thread.cursor
            let mark = Span(isHere ? "▌ " : "  ", .key)
            shown.append(ViewRow([mark] + row.spans, at: .block(block)))
        }
        return shown + Array(repeating: ViewRow(), count: 1 + areas.thread - shown.count)
    }

    private var separator: ViewRow {
        let focus = screen.model.focus
        var spans = [
            Span("── ", .dim), Span(focus.isEmpty ? screen.title : lists.name(of: focus), .bold),
        ]
        if let tally = screen.model.tally, tally.score != nil {
            spans.append(Span(" · \(TallyText.full(tally))", .dim))
        }
        if let list = screen.threadList {
            spans.append(Span(" · \(Wording.count(list.total, "comment"))", .dim))
        }
        let width = spans.reduce(1) { $0 + $1.text.width }
        if width < columns {
            spans.append(Span(" " + String(repeating: "─", count: columns - width), .dim))
        }
        return ViewRow(spans)
    }

    // MARK: - What is written

    /// The comment that is being written.
    var draftRows: [ViewRow] {
        guard case .write(let draft, let input) = mode else { return [] }
        let areas = areas
        let header = lists.lists.count > 1 ? 0 : 1
        let height = areas.body - areas.list - header - areas.separator - areas.thread
        let view = DraftView(input, width: columns - 2)
        var title: String
        switch draft.goal {
        case .comment(let subject): title = "Your comment on \(subject.title)"
        case .reply(_, let comment):
            title = "Your reply to \(comment.author.map { ActorName.shown($0) } ?? "a comment")"
        case .edit: title = "Your comment, edited"
        }
        if let most = screen.component("comments")?.comments?.maxLength {
            title +=
                " · \(Wording.count(input.text.unicodeScalars.count)) of \(Wording.count(most))"
        }
        return [ViewRow([Span("── ", .dim), Span(title, .key)])]
            + view.visible(height: height - 1).map { ViewRow([Span("  "), Span($0)]) }
    }

    // MARK: - Menus

    /// A menu with its title.
    func menuRows(_ menu: Menu) -> [ViewRow] {
        let choices = choices(menu)
        var title = [Span(menu.title, .bold)]
        if let query = menu.query { title += [Span(" /", .key), Span(query.text)] }
        var shown = [ViewRow(title)]
        for (index, choice) in choices.enumerated().dropFirst(menu.offset) {
            guard shown.count < areas.body else { break }
            guard choice.action != nil else {
                shown.append(ViewRow([Span(" \(choice.title)", .bold)]))
                continue
            }
            let isHere = index == menu.cursor
            let mark = choice.isOn.map { $0 ? "[✓] " : "[ ] " } ?? "    "
            let look = Look(isBold: choice.isOn == true, isReverse: isHere)
            let detail = CellText(choice.detail)
            let room = min(columns - 8, 60) - detail.width - 2
            shown.append(
                ViewRow(
                    [
                        Span("  \(mark)", look), Span(CellText(choice.title).filling(room), look),
                        Span("  ", look), Span(detail, look),
                    ], at: .choice(index)))
        }
        if choices.isEmpty {
            shown.append(ViewRow([Span("  nothing matches '\(menu.query?.text ?? "")'", .dim)]))
        }
        return shown
    }
}
