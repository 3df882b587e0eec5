import Interfaces

extension Browser {
    /// How the rows are shared out, below the head and the line of what is chosen.
    struct Areas: Equatable {
        /// All between the two upper and the two lower rows.
        var body: Int
        /// The lines of the lists, without the header.
        var list: Int
        /// The row with what the thread is about; 0: there is no thread.
        var separator: Int
        var thread: Int
    }

    var areas: Areas {
        let body = max(1, rows - 4)
        var draft = 0
        if case .write(_, let input) = mode {
            let lines = DraftView(input, width: columns - 2).rows.count
            draft = max(2, min(lines + 1, body / 2))
        }
        let room = body - draft
        let header = lists.lists.count > 1 ? 0 : 1
        let isTalked = screen.hasThread && (!screen.model.focus.isEmpty || thread.count > 0)
        guard isTalked, room >= header + 4 else {
            return Areas(body: body, list: max(1, room - header), separator: 0, thread: 0)
        }
        let share =
            pane == .thread
            ? room * 2 / 3 : screen.model.focus.isEmpty ? room / 4 : room * 2 / 5
        let below = min(max(2, share), max(2, thread.count + 1), room - header - 2)
        return Areas(
            body: body, list: room - header - below, separator: 1, thread: below - 1)
    }

    /// What the terminal shows: as many rows as it has, each in full width.
    func view() -> [ViewRow] {
        var body: [ViewRow]
        switch mode {
        case .menu(let menu): body = menuRows(menu)
        case .help(let offset): body = Array(HelpText.rows(columns: columns).dropFirst(offset))
        default: body = listRows + threadRows + draftRows
        }
        let areas = areas
        body = Array(body.prefix(areas.body))
        body += Array(repeating: ViewRow(), count: areas.body - body.count)
        var shown = [head, chosenRow] + body + [noticeRow, helpRow]
        // What was there is still shown, and is known to be old.
        if status.isLost {
            for index in shown.indices.dropLast(2) {
                shown[index] = shown[index].looking { look in
                    (look.isDim, look.isBold, look.color) = (true, false, .plain)
                }
            }
        }
        if rows < 5 { shown = Array(shown.prefix(max(1, rows))) }
        return shown.map { row in
            row.filling(
                columns, row.spans.last?.look.isReverse == true ? .init(isReverse: true) : .plain)
        }
    }

    /// Where the cursor of what is typed stands.
    var caret: (row: Int, column: Int)? {
        switch mode {
        case .search(let input, _): (rows - 2, 1 + CellText(String(input.before)).width)
        case .prompt(let prompt, let input):
            (rows - 2, CellText(question(prompt)).width + CellText(String(input.before)).width)
        case .write(_, let input):
            DraftView(input, width: columns - 2).caret(
                height: draftHeight, below: rows - 2 - draftHeight)
        case .menu(let menu) where menu.isTyping:
            (
                2,
                CellText("\(menu.title) /").width + CellText(String(menu.query?.before ?? [])).width
            )
        default: nil
        }
    }

    private var draftHeight: Int {
        let areas = areas
        let header = lists.lists.count > 1 ? 0 : 1
        return max(1, areas.body - areas.list - header - areas.separator - areas.thread - 1)
    }

    // MARK: - Above

    private var head: ViewRow {
        var spans = [
            Span(" \(screen.root.title.isEmpty ? screen.container : screen.root.title)", .bold)
        ]
        if !screen.part.isEmpty { spans.append(Span(" › \(screen.title)", .bold)) }
        for item in screen.model.path { spans.append(Span(" › \(lists.name(of: item))", .bold)) }
        var tabs: [Range<Int>] = []
        var column = spans.reduce(0) { $0 + $1.text.width }
        for scope in screen.model.scopes {
            let isHere = scope.name == screen.model.scope
            let name = scope.title.isEmpty ? scope.name : scope.title
            spans.append(Span("  "))
            let tab = Span(" \(name) ", isHere ? Look(isBold: true, isReverse: true) : .dim)
            tabs.append(column + 2..<column + 2 + tab.text.width)
            column += 2 + tab.text.width
            spans.append(tab)
        }
        let count = Span(countText, .dim)
        let gap = columns - column - count.text.width - 1
        if gap > 0 { spans += [Span(.blank(gap)), count] }
        return ViewRow(spans, at: .tabs(tabs))
    }

    private var countText: String {
        guard let list = lists.list, case .item(_, let at)? = lists.line(lists.cursor) else {
            return Wording.count(lists.lists.reduce(0) { $0 + $1.total }, "item")
        }
        return "\(Wording.count(at + 1)) of \(Wording.count(list.total))\(list.hasMore ? "+" : "")"
    }

    /// What is searched, filtered and sorted: always in sight.
    private var chosenRow: ViewRow {
        var spans: [Span] = []
        if !screen.search.isEmpty { spans.append(Span(" /\(screen.search)", .key)) }
        for section in screen.sections.map(\.section) {
            let selected = section.filters.filter(\.selected).map(\.title)
            guard !selected.isEmpty else { continue }
            spans.append(Span(" \(section.title): ", .dim))
            spans.append(Span(selected.joined(separator: ", "), .key))
        }
        spans.append(Span(" sort: ", .dim))
        spans.append(Span(sortText, screen.sort.isEmpty ? .dim : .key))
        if let closed = screen.model.closed { spans.append(Span(" \(closed)", .warning)) }
        for component in screen.model.components {
            guard let problem = component.problem else { continue }
            spans.append(Span(" \(component.name): \(problem)", .warning))
        }
        for part in screen.root.parts {
            guard let problem = part.problem else { continue }
            spans.append(Span(" \(part.path): \(problem)", .warning))
        }
        for list in screen.model.lists {
            guard let state = list.state else { continue }
            let problem = list.problem.map { ": \($0)" } ?? ""
            spans.append(Span(" \(list.component) \(Self.words(state))\(problem)", .warning))
        }
        return ViewRow(spans)
    }

    private static func words(_ state: Screens.Open.Reply.Lists.State) -> String {
        switch state {
        case .loading: "is loading"
        case .asking: "is being asked"
        case .stale: "shows what it had"
        }
    }

    private var sortText: String {
        guard !screen.sort.isEmpty else {
            let own = screen.model.components.first { $0.name == lists.list?.component }?.sort
            return own.map { $0.map(Self.order).joined(separator: ", ") } ?? "id"
        }
        return screen.sort.map(Self.order).joined(separator: ", ")
    }

    private static func order(_ key: String) -> String {
        key.hasPrefix("-") ? "\(key.dropFirst())↓" : "\(key)↑"
    }

    // MARK: - Below

    private func question(_ prompt: Prompt) -> String {
        switch prompt {
        case .vote(let subject):
            let facts = screen.model.components.first { $0.name == subject.component }?.votes
            let scale = facts.map { " (\(FactsText.scale($0)))" } ?? ""
            return "\(CellText(subject.title).cut(to: max(8, columns / 3)).text)\(scale): "
        case .filter(_, let title, let isRange):
            return isRange ? "\(title), from..to: " : "\(title): "
        case .reason: return "The reason, for the author: "
        }
    }

    private var noticeRow: ViewRow {
        switch mode {
        case .search(let input, _): ViewRow([Span("/", .key), Span(input.text)])
        case .prompt(let prompt, let input):
            ViewRow([Span(question(prompt), .key), Span(input.text)])
        default: status.row
        }
    }

    /// Whether there is something here that a key does this with.
    private func takes(_ does: String) -> Bool {
        switch does {
        case "vote", "unvote": screen.component("votes").map { $0.votes?.closed != true } ?? false
        case "comment", "reply", "edit":
            screen.component("comments").map { $0.comments?.closed != true } ?? false
        case "talk": screen.hasThread
        case "fold", "moderate": screen.component("comments") != nil
        case "filter": !screen.sections.isEmpty
        default: true
        }
    }

    private var helpRow: ViewRow {
        var spans: [Span] = []
        var room = columns
        for (key, does) in HelpText.line(mode, pane) where takes(does) {
            let pair = [Span(" \(key) ", .key), Span("\(does) ", .dim)]
            room -= pair.reduce(0) { $0 + $1.text.width }
            guard room >= 0 else { break }
            spans += pair
        }
        return ViewRow(spans)
    }
}
