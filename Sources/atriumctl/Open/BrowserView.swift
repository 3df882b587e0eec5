import Interfaces

/// What the terminal shows of a browser.
struct BrowserView {
    private let browser: Browser
    private let areas: Browser.Areas

    init(_ browser: Browser) { (self.browser, areas) = (browser, browser.areas) }

    /// As many rows as the terminal has, each in full width.
    var rows: [ViewRow] {
        var body = Array(self.body.prefix(areas.body))
        body += Array(repeating: ViewRow(), count: areas.body - body.count)
        let head = HeadView(screen: screen, lists: browser.lists, columns: columns)
        var shown = [head.place, head.choices] + body + [noticeRow, helpRow]
        // What was there is still shown, and is known to be old.
        if browser.status.isLost {
            for index in shown.indices.dropLast(2) {
                shown[index] = shown[index].looking { look in
                    (look.isDim, look.isBold, look.color) = (true, false, .plain)
                }
            }
        }
        if browser.rows < 5 { shown = Array(shown.prefix(max(1, browser.rows))) }
        return shown.map { row in
            row.filling(
                columns, row.spans.last?.look.isReverse == true ? .init(isReverse: true) : .plain)
        }
    }

    /// Where the cursor of what is typed stands.
    var caret: (row: Int, column: Int)? {
        switch browser.mode {
        case .search, .prompt: inputRow.map { (browser.rows - 2, $0.column) }
        case .write(_, let input):
            DraftView(input, width: columns - 2).caret(
                height: draftHeight, below: browser.rows - 2 - draftHeight)
        case .menu(let menu) where menu.isTyping:
            menu.inputRow(columns: columns).map { (2, $0.column) }
        default: nil
        }
    }

    private var screen: ScreenParts { browser.screen }

    private var columns: Int { browser.columns }

    private var draftHeight: Int { max(1, areas.draft - 1) }

    /// What stands between the two upper and the two lower rows.
    private var body: [ViewRow] {
        switch browser.mode {
        case .menu(let menu):
            return menu.rows(browser.offered.of(menu), columns: columns, height: areas.body)
        case .help(let offset): return Array(HelpText.rows(columns: columns).dropFirst(offset))
        default: break
        }
        let lists = ListView(
            lists: browser.lists, screen: screen, highlights: browser.highlights,
            hasKeys: browser.pane == .list, columns: columns)
        let thread = ThreadView(
            thread: browser.thread, screen: screen, lists: browser.lists,
            hasKeys: browser.pane == .thread, columns: columns)
        return lists.rows(height: areas.list)
            + (areas.separator > 0 ? thread.rows(height: areas.thread) : []) + draftRows
    }

    private var draftRows: [ViewRow] {
        guard case .write(let draft, let input) = browser.mode else { return [] }
        var title = draft.goal.title
        if let most = screen.component("comments")?.comments?.maxLength {
            title +=
                " · \(Wording.count(input.text.unicodeScalars.count)) of \(Wording.count(most))"
        }
        return [ViewRow([Span("── ", .dim), Span(title, .key)])]
            + DraftView(input, width: columns - 2).visible(height: areas.draft - 1)
            .map { ViewRow([Span("  "), Span($0)]) }
    }

    private func question(_ prompt: Browser.Prompt) -> String {
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
        inputRow.map { ViewRow($0.spans) } ?? browser.status.row
    }

    /// The line that is typed, if any.
    private var inputRow: InputRow? {
        switch browser.mode {
        case .search(let input, _): InputRow(Span("/", .key), input, columns: columns)
        case .prompt(let prompt, let input):
            InputRow(Span(question(prompt), .key), input, columns: columns)
        default: nil
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
        for (key, does) in HelpText.line(browser.mode, browser.pane) where takes(does) {
            let pair = [Span(" \(key) ", .key), Span("\(does) ", .dim)]
            room -= pair.reduce(0) { $0 + $1.text.width }
            guard room >= 0 else { break }
            spans += pair
        }
        return ViewRow(spans)
    }
}
