public import AtriumKit

/// The actor of a call, and the caller's special rights.
public struct Caller: Sendable, Hashable {
    /// The actor: `unix:<uid>` or `<namespace>:<opaque>`.
    public var actor: String
    /// Whether the caller may act on what others wrote, and see who voted.
    public var isModerator: Bool
    /// The rate limits of the caller's writes.
    public var pace: Pace

    /// Which rate limits apply to a caller's writes.
    public enum Pace: Sendable, Hashable {
        /// None: for moderators and administrators, who import data.
        case free
        /// The limits of one person.
        case person
        /// The limits of one person, and those of the front end with this name.
        case frontend(String)
    }

    /// The user whose waiting calls are counted together: the front end where it calls for an actor.
    public var user: String { if case .frontend(let name) = pace { name } else { actor } }

    /// A caller; by default without special rights and without rate limits.
    public init(actor: String, isModerator: Bool = false, pace: Pace = .free) {
        self.actor = actor
        self.isModerator = isModerator
        self.pace = pace
    }
}

/// A request for a page of items.
public struct ListRequest: Sendable, Hashable {
    /// The list; nil: the first one that a screen would show, in the scope if one is named.
    public var component: String?
    /// Restricts the request to the lists of this scope; nil: all lists.
    public var scope: String?
    /// The parent of the items; nil: all items; empty: only roots.
    public var parent: String?
    /// The selected filters.
    public var selection: Selection
    /// The text to search for; nil or empty: no search.
    public var search: String?
    /// Field names, with `-` before them for descending order.
    public var sort: [String]
    /// The fields to return; nil: all.
    public var fields: [String]?
    /// Whether to return sections and counts.
    public var facets: Bool
    /// Whether to return how the list is shown.
    public var isPresented: Bool
    /// The actor whose ballot is returned as `mine`, and whose long queries take turns with those of others; nil: the
    /// user's take turns.
    public var actor: String?
    /// The user whose waiting calls are counted together.
    public var user: String
    /// The most items to return, 1 to 1,000.
    public var limit: Int
    /// The cursor of the previous page; nil: the first page.
    public var cursor: String?

    /// A request; by default the first 50 items of the first list.
    public init(
        component: String? = nil, scope: String? = nil, parent: String? = nil,
        selection: Selection = Selection(), search: String? = nil,
        sort: [String] = [],
        fields: [String]? = nil, facets: Bool = false, isPresented: Bool = false,
        actor: String? = nil, user: String = "", limit: Int = 50, cursor: String? = nil
    ) {
        self.component = component
        self.scope = scope
        self.parent = parent
        self.selection = selection
        self.search = search
        self.sort = sort
        self.fields = fields
        self.facets = facets
        self.isPresented = isPresented
        self.actor = actor
        self.user = user
        self.limit = limit
        self.cursor = cursor
    }

    /// The mode of a screen that would show the same.
    var mode: ListMode {
        ListMode(isInside: parent?.isEmpty == false, isSearching: search?.isEmpty == false)
    }
}

/// An item to write, with its condition.
public struct ItemDraft: Sendable, Hashable {
    /// The item.
    public var item: Item
    /// The revision that the write expects.
    ///
    /// The write succeeds only if no later entry changed the item. 0: only if the item does not exist; nil: always.
    public var ifRevision: Int64?

    /// A draft.
    public init(item: Item, ifRevision: Int64? = nil) {
        self.item = item
        self.ifRevision = ifRevision
    }
}

/// Items to write together: all of them or none.
public struct ItemBatch: Sendable {
    /// The number of items.
    public let count: Int
    /// Whether an item expects a revision.
    public let isConditional: Bool
    /// Returns the items, in their order.
    let read: @Sendable () throws(HostError) -> [ItemDraft]

    /// A batch of these items.
    public init(_ drafts: [ItemDraft]) {
        self.init(count: drafts.count, isConditional: drafts.contains { $0.ifRevision != nil }) {
            () throws(HostError) in drafts
        }
    }

    /// A batch whose items are still to be decoded.
    ///
    /// `isConditional`: an item expects a revision. `read` is called once at most, on another thread if there are
    /// many.
    public init(
        count: Int, isConditional: Bool,
        _ read: @escaping @Sendable () throws(HostError) -> [ItemDraft]
    ) {
        self.count = count
        self.isConditional = isConditional
        self.read = read
    }
}
