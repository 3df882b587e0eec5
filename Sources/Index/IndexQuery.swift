public import AtriumKit

/// A query: the items to show of a list, and the filters to count.
package struct IndexQuery: Equatable {
    /// The part of the tree whose items match.
    package var parent: ParentScope = .all
    /// The filters, by section.
    package var sections: [SectionQuery] = []
    /// Text that a searched field contains, without regard to case and diacritics; nil or empty
    /// lets every item through.
    package var search: String?
    /// The keys to sort by, the most significant first; ties, and an empty list, are ordered by item id.
    package var sort: [SortKey] = []
    /// The maximum number of items on a page; 0: only totals and counts.
    package var limit: Int = 50
    /// The start of the page: the ``IndexPage/next`` of the page before; nil: at the start.
    package var cursor: String?
    /// Whether to count the filters that the sections offer.
    package var countsFacets: Bool = false

    /// A query; by default the first 50 of all items, by id.
    package init(
        parent: ParentScope = .all, sections: [SectionQuery] = [], search: String? = nil,
        sort: [SortKey] = [], limit: Int = 50, cursor: String? = nil, countsFacets: Bool = false
    ) {
        self.parent = parent
        self.sections = sections
        self.search = search
        self.sort = sort
        self.limit = limit
        self.cursor = cursor
        self.countsFacets = countsFacets
    }

    /// The number of rows behind the page that a live query keeps, to move up when others leave the page.
    var spare: Int { limit / 2 + 8 }
}

/// One section of filters in a query.
package struct SectionQuery: Equatable {
    /// Its id in the container.
    package var id: String
    /// The selected filters: an item matches any of them.
    ///
    /// If none is selected, every item matches.
    package var selected: [Predicate] = []
    /// The filters to count, in the order of the counts.
    package var offered: [Predicate] = []

    /// A section; by default nothing of it is selected or counted.
    package init(id: String, selected: [Predicate] = [], offered: [Predicate] = []) {
        self.id = id
        self.selected = selected
        self.offered = offered
    }
}

/// The part of a tree whose items match.
public enum ParentScope: Sendable, Hashable {
    /// All of them.
    case all
    /// The items without a parent, and those whose parent does not exist.
    case roots
    /// The direct children of an item.
    case under(String)
}

/// One thing to order by.
public struct SortKey: Sendable, Hashable {
    /// A declared field, `votes.score`, `votes.count`, `comments.count`, or `id`.
    public var field: String
    /// Whether the greatest comes first.
    ///
    /// Items without the field come last either way.
    public var descending = false

    /// The key as people write it.
    public var text: String { descending ? "-\(field)" : field }
}

extension SortKey {
    /// A key as people write it: the field's name, after `-` for descending.
    public init(_ text: String) {
        let descending = text.hasPrefix("-")
        self.init(field: descending ? String(text.dropFirst()) : text, descending: descending)
    }
}

/// An item as the index knows it.
public struct IndexedItem: Sendable, Hashable {
    /// The item's id.
    public var id: String
    /// Its fields as the bytes of a JSON object, keys sorted.
    public var fields: [UInt8]
    /// The id of its parent; nil for a root.
    public var parent: String?
    /// The tally of its votes.
    public var tally: Tally
    /// The number of comments on it.
    public var comments: Int
    /// The sequence of the entry that last changed it.
    public var revision: Int64
}
