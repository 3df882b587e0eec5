import Interfaces

/// The rows of the thread.
struct ThreadView {
    let thread: ThreadPane
    let screen: ScreenParts
    let lists: ListPane
    /// Whether keys are for the thread, not for the lists.
    let hasKeys: Bool
    let columns: Int

    /// What the thread is about, and its rows in sight.
    func rows(height: Int) -> [ViewRow] {
        var shown = [separator]
        for (block, row) in thread.visible(height) {
            let isHere = hasKeys && block == thread.cursor
            let mark = Span(isHere ? "▌ " : "  ", .key)
            shown.append(ViewRow([mark] + row.spans, at: .block(block)))
        }
        return shown + Array(repeating: ViewRow(), count: 1 + height - shown.count)
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
}
