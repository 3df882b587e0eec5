import Interfaces

/// What a list has beyond the window that a screen shows live: pages as they were when they were fetched.
struct Tail: Equatable {
    typealias Entry = ScreenModel.List.Entry

    /// What the pages are of; another question needs other pages.
    enum Query: Equatable, Sendable {
        case items(Items)
        /// The comments on an item; nil: on the container.
        case comments(component: String, item: String?)

        /// Which items of a list.
        struct Items: Equatable, Sendable {
            var component: String
            var scope: String?
            var parent: String?
            var filters: [String: [String]]?
            var search: String?
            var sort: [String]?
        }

        var component: String {
            switch self {
            case .items(let items): items.component
            case .comments(let component, _): component
            }
        }
    }

    let query: Query
    private(set) var entries: [Entry] = []
    /// Where the next page begins; nil: behind the window.
    private(set) var cursor: String?
    /// Whether a page is on its way.
    var isWaiting = false
    /// How many entries the list had when the last page was read; nil: there are more pages.
    private(set) var wholeTotal: Int?

    init(_ query: Query) { self.query = query }

    var items: [Item] { entries.compactMap(\.item) }
    var comments: [Comment] { entries.compactMap(\.comment) }

    /// Adds a page; the first page replaces all that is here.
    mutating func take(_ page: [Entry], next: String?, window: [Entry], total: Int) {
        if cursor == nil { entries = [] }
        let known = Set(window.map(\.id)).union(entries.map(\.id))
        entries += page.filter { !known.contains($0.id) }
        cursor = next
        wholeTotal = next == nil ? total : nil
        isWaiting = false
    }

    /// Takes in what happened in the window: what came into it is here no longer, what fell off its end is here.
    mutating func take(_ changes: [ScreenChange], isFull: Bool) {
        for change in changes where change.component == query.component {
            switch change.edit {
            case .inserted(let entry, _): entries.removeAll { $0.id == entry.id }
            case .removed(let entry) where isFull: entries.insert(entry, at: 0)
            default: break
            }
        }
    }
}

extension Browser {
    /// What a list shows now, as a question.
    func query(_ component: String) -> Tail.Query {
        .items(
            .init(
                component: component, scope: model.scope,
                parent: model.path.last ?? (search.isEmpty ? "" : nil), filters: model.selection,
                search: search.isEmpty ? nil : search, sort: sort.isEmpty ? nil : sort))
    }

    /// What the thread shows now, as a question; nil: there is none.
    var talkQuery: Tail.Query? {
        component("comments").map {
            .comments(component: $0.name, item: model.focus.isEmpty ? nil : model.focus)
        }
    }

    /// Asks for a page behind the window of a list, if one is missing.
    mutating func page(after list: ScreenModel.List) -> Effect? {
        let query =
            list.component == talkQuery?.component ? talkQuery : self.query(list.component)
        guard let query else { return nil }
        if tails[list.component]?.query != query { tails[list.component] = Tail(query) }
        guard let tail = tails[list.component], !tail.isWaiting else { return nil }
        // All pages were read: what came since is only found by reading them again.
        if let total = tail.wholeTotal, list.total <= total { return nil }
        tails[list.component]?.isWaiting = true
        return .call(.page(query, cursor: tail.cursor, behind: list.entries.count))
    }

    /// Takes in a page.
    mutating func take(
        page: [Tail.Entry], next: String?, of query: Tail.Query
    ) -> [Effect] {
        guard tails[query.component]?.query == query,
            let window = model.lists.first(where: { $0.component == query.component })
        else { return [] }
        tails[query.component]?.take(
            page, next: next, window: window.entries, total: window.total)
        if case .comments = query {
            layThreadOut(isNew: false)
            return windows()
        }
        let lists = lists.lists.map { list in
            guard list.component == query.component else { return list }
            var list = list
            list.items = window.items + (tails[query.component]?.items ?? [])
            for item in page.compactMap(\.item) { list.columns.take(item) }
            return list
        }
        self.lists.take(lists, isNew: false)
        if wantsEnd, pane == .list { self.lists.moveToEnd() }
        settle()
        return windows()
    }

    // MARK: - The thread

    /// The pages of the thread that is shown; nil: none were read.
    private var talkTail: Tail? {
        talkQuery.flatMap { query in
            tails[query.component].flatMap { $0.query == query ? $0 : nil }
        }
    }

    /// The comments on what the screen is focused on, those behind the window, too.
    var talk: [Comment] {
        guard let query = talkQuery else { return [] }
        var window = model.lists.first { $0.component == query.component }?.comments ?? []
        if talkTail?.wholeTotal != nil {
            // Which replies are left out is known for the window alone.
            for index in window.indices { window[index].more = nil }
        }
        return window + (talkTail?.comments ?? [])
    }

    /// Whether the thread may go on behind what is shown of it.
    func mayGoOn(_ list: ScreenModel.List, limit: Int) -> Bool {
        guard list.component == talkQuery?.component else {
            let known = list.entries.count + (tails[list.component]?.entries.count ?? 0)
            return list.hasMore || known < list.total
        }
        // The total does not count deleted comments, whose places are entries, too.
        return list.entries.count >= limit && talkTail?.wholeTotal.map { list.total > $0 } ?? true
    }

    /// Fetches the replies that are left out of the chosen comment, and what follows them; nil: none are.
    mutating func openReplies() -> [Effect]? {
        guard thread.comment?.more != nil, let query = talkQuery,
            let list = model.lists.first(where: { $0.component == query.component })
        else { return nil }
        return [page(after: list)].compactMap(\.self)
    }
}
