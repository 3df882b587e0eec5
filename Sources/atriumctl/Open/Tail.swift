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
    mutating func append(_ page: [Entry], next: String?, window: [Entry], total: Int) {
        if cursor == nil { entries = [] }
        let known = Set(window.map(\.id)).union(entries.map(\.id))
        entries += page.filter { !known.contains($0.id) }
        cursor = next
        wholeTotal = next == nil ? total : nil
        isWaiting = false
    }

    /// Applies what happened in the window: what came into it is here no longer, what fell off its end is here.
    mutating func apply(_ changes: [ScreenChange], isFull: Bool) {
        for change in changes where change.component == query.component {
            switch change.edit {
            case .inserted(let entry, _): entries.removeAll { $0.id == entry.id }
            case .removed(let entry) where isFull: entries.insert(entry, at: 0)
            default: break
            }
        }
    }
}
