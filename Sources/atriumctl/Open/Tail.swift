import Interfaces

/// What a list has beyond the window that a screen shows live: pages as they were when they were fetched.
struct Tail: Equatable {
    /// What the pages are of; another question needs other pages.
    struct Query: Equatable, Sendable {
        var component: String
        var scope: String?
        var parent: String?
        var filters: [String: [String]]?
        var search: String?
        var sort: [String]?
    }

    let query: Query
    private(set) var items: [Item] = []
    /// Where the next page begins; nil: behind the window.
    private(set) var cursor: String?
    /// Whether a page is on its way.
    var isWaiting = false

    init(_ query: Query) { self.query = query }

    /// Takes in a page.
    mutating func take(_ page: [Item], next: String?, window: some Sequence<Item>) {
        let known = Set(window.map(\.id)).union(items.map(\.id))
        items += page.filter { !known.contains($0.id) }
        cursor = next
        isWaiting = false
    }

    /// Takes in what happened in the window: what came into it is here no longer, what fell off its end is here.
    mutating func take(_ changes: [ScreenChange], isFull: Bool) {
        for change in changes where change.component == query.component {
            switch change.edit {
            case .inserted(.item(let item), _): items.removeAll { $0.id == item.id }
            case .removed(.item(let item)) where isFull: items.insert(item, at: 0)
            default: break
            }
        }
    }
}

extension Browser {
    /// What a list shows now, as a question.
    func query(_ component: String) -> Tail.Query {
        .init(
            component: component, scope: model.scope,
            parent: model.path.last ?? (search.isEmpty ? "" : nil), filters: model.selection,
            search: search.isEmpty ? nil : search, sort: sort.isEmpty ? nil : sort)
    }

    /// Asks for a page behind the window of a list, if one is missing.
    mutating func page(after list: ScreenModel.List) -> Effect? {
        let query = query(list.component)
        if tails[list.component]?.query != query { tails[list.component] = Tail(query) }
        guard let tail = tails[list.component], !tail.isWaiting,
            list.hasMore || list.entries.count + tail.items.count < list.total
        else { return nil }
        // All pages were read, and still something is missing: it came since.
        if !tail.items.isEmpty, tail.cursor == nil { return nil }
        tails[list.component]?.isWaiting = true
        return .call(.page(query, cursor: tail.cursor))
    }

    /// Takes in a page.
    mutating func take(page: [Item], next: String?, of query: Tail.Query) -> [Effect] {
        guard tails[query.component]?.query == query,
            let window = model.lists.first(where: { $0.component == query.component })
        else { return [] }
        tails[query.component]?.take(page, next: next, window: window.items)
        let lists = lists.lists.map { list in
            guard list.component == query.component else { return list }
            var list = list
            list.items = window.items + (tails[query.component]?.items ?? [])
            for item in page { list.columns.take(item) }
            return list
        }
        self.lists.take(lists, isNew: false)
        if wantsEnd { self.lists.moveToEnd() }
        settle()
        return windows()
    }
}
