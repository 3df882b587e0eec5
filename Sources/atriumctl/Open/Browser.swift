import Interfaces

/// A container at a terminal: what the daemon shows of it, and where the person stands in that.
///
/// It draws nothing and calls nobody: keys and revisions go in, effects and rows of cells come out.
struct Browser {
    /// Which part takes the keys.
    enum Pane: Equatable {
        case list
        case thread
    }

    /// What the keys are for.
    enum Mode: Equatable {
        case browse
        /// The text that was searched for before.
        case search(TextInput, before: String)
        case prompt(Prompt, TextInput)
        case write(CommentDraft, TextInput)
        case menu(Menu)
        case help(offset: Int)
    }

    /// What one line is asked for.
    enum Prompt: Equatable {
        case vote(Request.Subject)
        case filter(Menu.SectionID, title: String, isRange: Bool)
        case reason(component: String, Comment)
    }

    /// The user's actor id.
    let actor: String
    /// Whether the person may moderate; nil: the daemon has not answered yet, so it decides on each request.
    var mayModerate: Bool?
    /// Makes the ids of comments.
    var freshID: () -> String = CommentDraft.freshID
    /// The size of the terminal.
    var (rows, columns) = (24, 80)
    /// Seconds since 1970.
    var now = 0.0

    var screen: ScreenParts
    var windows: ListWindows
    var lists = ListPane()
    var thread = ThreadPane()
    var pane = Pane.list
    var mode = Mode.browse
    var drafts = Drafts()
    var lookup = FilterLookup()
    var highlights = Highlights()
    var status = StatusLine()
    /// Whether comments are decided on one after the other.
    var worksQueue = false
    /// Whether End was pressed and more pages must be fetched first.
    var wantsEnd = false
    /// Whether the terminal is passing on pasted text.
    var isPasting = false
    /// Whether the next revision resets the cursor to the top, because a choice is not shown yet.
    var startsAnew = false

    init(
        container: String, actor: String, search: String, sort: [String], limit: Int,
        mayGrow: Bool = true
    ) {
        self.actor = actor
        screen = ScreenParts(container: container, search: search, sort: sort)
        windows = ListWindows(limit: limit, mayGrow: mayGrow)
    }

    // MARK: - Time

    /// When something changes without anybody's doing: highlights end, a notice is over, comments grow older.
    var nextChange: Double? {
        [highlights.nextEnd, status.end, thread.nextAge].compactMap(\.self).min()
    }

    /// Lets go what is over.
    mutating func pass(to time: Double) {
        now = time
        status.pass(to: time)
        if highlights.expire(at: time) || thread.nextAge.map({ $0 <= time }) == true {
            layThreadOut(isNew: false)
        }
    }

    /// The terminal has another size.
    mutating func resize(rows: Int, columns: Int) {
        (self.rows, self.columns) = (rows, columns)
        layThreadOut(isNew: false)
    }

    // MARK: - Space

    /// How the rows are shared out, below the head and the line of what is chosen.
    struct Areas: Equatable {
        /// All between the two upper and the two lower rows.
        var body: Int
        /// The header above the lines of the lists; 0: each list has its own among these.
        var header: Int
        /// The lines of the lists.
        var list: Int
        /// The row with what the thread is about; 0: there is no thread.
        var separator: Int
        var thread: Int
        /// What is left for what is written, with its title.
        var draft: Int { body - header - list - separator - thread }
    }

    var areas: Areas {
        let body = max(1, rows - 4)
        var draft = 0
        if case .write(_, let input) = mode {
            let lines = DraftView(input, width: columns - 2).rows.count
            draft = max(2, min(lines + 1, body / 2))
        }
        let room = body - draft
        let header = lists.headerRows
        let isTalked = screen.hasThread && (!screen.model.focus.isEmpty || thread.count > 0)
        guard isTalked, room >= header + 4 else {
            return Areas(
                body: body, header: header, list: max(1, room - header), separator: 0, thread: 0)
        }
        let share =
            pane == .thread
            ? room * 2 / 3 : screen.model.focus.isEmpty ? room / 4 : room * 2 / 5
        let below = min(max(2, share), max(2, thread.count + 1), room - header - 2)
        return Areas(
            body: body, header: header, list: room - header - below, separator: 1,
            thread: below - 1)
    }
}
