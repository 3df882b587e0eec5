/// What the keys do.
enum HelpText {
    /// All of them, by what they are for.
    static let groups: [(title: String, keys: [(key: String, does: String)])] = [
        (
            "Moving",
            [
                ("↑ ↓ j k", "up and down; page keys, g and G go further"),
                ("enter → l", "into an item, or to what is said of it; more replies"),
                ("esc ← h", "back"),
                ("t", "to the comments, and back to the list"),
                ("tab", "the next scope, or part"),
                ("p P", "the next part, a container within this one; the one before"),
                ("space", "fold the replies to a comment"),
            ]
        ),
        (
            "Finding",
            [
                ("/", "search while you type; esc ends it"),
                ("f", "filters; / in there searches values"),
                ("x", "clear the filters"),
                ("s", "sort"),
                ("w", "what is shown: lists, votes, comments"),
                ("i", "ids"),
            ]
        ),
        (
            "Taking part",
            [
                ("0-9 + -", "vote; on scales beyond 9 a value is asked for"),
                ("v", "vote with any value"),
                ("u", "take your vote back"),
                ("o", "choose the item: the container is notified"),
                ("c", "comment"),
                ("r", "reply to the chosen comment"),
                ("e", "edit your comment"),
                ("m", "delete or moderate a comment; in the list: what waits for moderators"),
            ]
        ),
        (
            "Else",
            [
                ("^L", "draw everything anew"), ("^Z", "stop for a while"), ("q ^C", "quit"),
            ]
        ),
    ]

    /// The columns of the keys.
    private static let keyWidth = 13

    /// The rows of the page with all of them, in so many columns.
    static func rows(columns: Int) -> [ViewRow] {
        groups.flatMap { title, keys in
            [ViewRow([Span(title, .bold)])]
                + keys.flatMap { key, does in
                    let lines = CellText(does).wrapped(to: max(8, columns - keyWidth))
                    return lines.enumerated().map { index, line in
                        let start = CellText(index == 0 ? "  \(key)" : "").filling(keyWidth)
                        return ViewRow([Span(start, .key), Span(line)])
                    }
                }
        }
    }

    /// The keys that matter most, in one line.
    static func line(_ mode: Browser.Mode, _ pane: Browser.Pane) -> [(String, String)] {
        switch mode {
        case .browse where pane == .list:
            [
                ("?", "help"), ("q", "quit"), ("/", "search"), ("f", "filter"), ("s", "sort"),
                ("enter", "open"), ("v", "vote"), ("c", "comment"), ("t", "talk"), ("u", "unvote"),
                ("o", "choose"), ("esc", "back"),
            ]
        case .browse:
            [
                ("?", "help"), ("esc", "list"), ("c", "comment"), ("r", "reply"), ("e", "edit"),
                ("space", "fold"), ("m", "moderate"), ("v", "vote"),
            ]
        case .search: [("enter", "keep"), ("esc", "drop"), ("↑↓", "move")]
        case .prompt: [("enter", "ok"), ("esc", "drop")]
        case .write: [("enter", "send"), ("^J", "new line"), ("esc", "drop")]
        case .menu(let menu) where menu.isTyping: [("enter", "choose"), ("esc", "all values")]
        case .menu(let menu) where menu.kind == .filters:
            [
                ("esc", "done"), ("enter", "choose"), ("/", "find values"), ("x", "clear"),
                ("→←", "sections"),
            ]
        case .menu: [("esc", "done"), ("enter", "choose"), ("/", "find")]
        case .help: [("esc", "done"), ("↑↓", "scroll")]
        }
    }
}
