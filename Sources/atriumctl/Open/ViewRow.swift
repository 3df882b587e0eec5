/// How cells look.
struct Look: Hashable, Sendable {
    /// The few colours there are.
    enum Color: Int16, Sendable {
        case plain
        case red
        case green
        case yellow
        case cyan
    }

    var color = Color.plain
    var isBold = false
    var isDim = false
    var isReverse = false
    var isUnderlined = false

    static let plain = Look()
    static let bold = Look(isBold: true)
    static let dim = Look(isDim: true)
    static let key = Look(color: .cyan, isBold: true)
    static let warning = Look(color: .yellow, isBold: true)
}

/// A run of cells that look alike.
struct Span: Hashable, Sendable {
    var text: CellText
    var look: Look

    init(_ text: CellText, _ look: Look = .plain) {
        (self.text, self.look) = (text, look)
    }

    init(_ text: String, _ look: Look = .plain) { self.init(CellText(text), look) }
}

/// A row of the terminal.
struct ViewRow: Hashable, Sendable {
    /// What somebody points at who clicks on a row.
    enum Target: Hashable, Sendable {
        /// A line of the lists.
        case line(Int)
        /// A comment, by its place in the thread.
        case block(Int)
        /// A choice of a menu.
        case choice(Int)
        /// The tabs: the scopes, and the columns that each begins and ends at.
        case tabs([Range<Int>])
    }

    var spans: [Span] = []
    var target: Target?

    init(_ spans: [Span] = [], at target: Target? = nil) {
        (self.spans, self.target) = (spans, target)
    }

    var width: Int { spans.reduce(0) { $0 + $1.text.width } }

    /// The row in exactly so many columns; what is too much is cut with an ellipsis.
    func filling(_ columns: Int, _ look: Look = .plain) -> ViewRow {
        var (row, room) = (self, columns)
        row.spans = []
        let isCut = width > columns
        for span in spans where room > 0 {
            let isLast = isCut && span.text.width >= room
            let text =
                isLast && span.text.width == room
                ? (span.text + .blank(1)).cut(to: room) : span.text.cut(to: room)
            row.spans.append(Span(text, span.look))
            room -= text.width
        }
        if room > 0 { row.spans.append(Span(.blank(room), look)) }
        return row
    }

    /// The row with each span's look changed.
    func looking(_ change: (inout Look) -> Void) -> ViewRow {
        var row = self
        for index in row.spans.indices { change(&row.spans[index].look) }
        return row
    }

    /// The row's text alone.
    var text: String { spans.map(\.text.text).joined() }
}
