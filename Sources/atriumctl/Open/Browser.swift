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
        case filter(Menu.Place, title: String, isRange: Bool)
        case reason(component: String, Comment)
    }

    let container: String
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

    /// The whole screen.
    var root = ScreenModel()
    /// The part of the screen, a container within the container, that receives the keys; empty: the container itself.
    var part = ""
    var lists = ListPane()
    var thread = ThreadPane()
    var pane = Pane.list
    var mode = Mode.browse
    /// The search text, by part.
    var searches: [String: String]
    /// The sort keys, by part.
    var sorts: [String: [String]]
    var showsIDs = false
    /// The descriptions of the containers on the screen.
    var outlines: ContainerOutlines = [:]
    /// Texts that were written and could not be sent: the next comment or reply begins with the last of them.
    var unsent: [UnsentText] = []
    /// The comment that was sent and is not shown yet: it is chosen once it is.
    var awaited: String?
    /// Whether comments are decided on one after the other.
    var worksQueue = false
    var status = StatusLine()
    /// The time at which the ages of comments are redrawn; nil: none is shown.
    var nextAge: Double?
    var highlights = Highlights()
    /// The requested limit, by list.
    var limits: [String: Int] = [:]
    let firstLimit: Int
    /// Whether limits may grow.
    let mayGrow: Bool
    /// The titles of items that were entered or focused on, by id.
    var names: [String: String] = [:]
    /// The results of searches for filters in sections that list only some.
    var found: [FoundFilters] = []
    /// The entries beyond the windows, by list.
    var tails: [String: Tail] = [:]
    /// Whether End was pressed and more pages must be fetched first.
    var wantsEnd = false
    /// Whether the terminal is passing on pasted text.
    var isPasting = false
    /// Whether the next revision resets the cursor to the top, because a choice is not shown yet.
    var startsAnew = false
    /// The item to select after leaving its inside.
    var leaving: String?

    init(
        container: String, actor: String, search: String, sort: [String], limit: Int,
        mayGrow: Bool = true
    ) {
        self.container = container
        self.mayGrow = mayGrow
        self.actor = actor
        searches = ["": search]
        sorts = ["": sort]
        firstLimit = limit
    }

    /// The first component of a kind that is shown.
    func component(_ kind: String) -> Screens.Open.Reply.Components? {
        model.components.first { $0.kind == kind && !$0.hidden }
    }

    /// What the screen is focused on, in words.
    var focusTitle: String { model.focus.isEmpty ? title : name(of: model.focus) }

    /// What an item is called, also one that is in no list any more.
    func name(of item: String) -> String { lists.title(of: item) ?? names[item] ?? item }

    var title: String { model.title.isEmpty ? place : model.title }

    // MARK: - Time

    /// When something changes without anybody's doing: highlights end, a notice is over, comments grow older.
    var nextChange: Double? { [highlights.nextEnd, status.end, nextAge].compactMap(\.self).min() }

    /// Lets go what is over.
    mutating func pass(to time: Double) {
        now = time
        status.pass(to: time)
        if highlights.expire(at: time) || nextAge.map({ $0 <= time }) == true {
            layThreadOut(isNew: false)
        }
    }

    /// The terminal has another size.
    mutating func resize(rows: Int, columns: Int) {
        (self.rows, self.columns) = (rows, columns)
        layThreadOut(isNew: false)
    }
}
