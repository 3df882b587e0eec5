/// One line while it is typed, behind what is asked for: it scrolls, so that the cursor is always in sight.
struct InputRow {
    let spans: [Span]
    /// Where the cursor stands.
    let column: Int

    /// A mark stands between the title, which may be cut, and the text.
    init(_ title: Span, mark: Span = Span(""), _ input: TextInput, columns: Int) {
        let most = max(columns / 2, columns - 24) - mark.text.width
        let label = [Span(title.text.cut(to: max(0, most)), title.look), mark]
        let start = label.reduce(0) { $0 + $1.text.width }
        var before = CellText(String(input.before))
        // A column for the cursor; where text stands below it, two and the ellipsis of what is cut.
        let room = columns - start - (input.after.isEmpty ? 1 : 3)
        if before.width > room { before = CellText("…") + before.end(max(0, room - 1)) }
        spans = label + [Span(before + CellText(String(input.after)))]
        column = min(start + before.width, max(0, columns - 1))
    }
}
