import Interfaces

/// The rows above the lists.
struct HeadView {
    let screen: ScreenParts
    let lists: ListPane
    let columns: Int

    /// Where one stands: the container, the items around and the scopes.
    var place: ViewRow {
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
    var choices: ViewRow {
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
}
