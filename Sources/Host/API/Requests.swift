public import AtriumKit

/// Who calls, and what they may see and do beyond the ordinary.
public struct Caller: Sendable, Hashable {
    /// On whose behalf: `unix:<uid>` or `<namespace>:<opaque>`.
    public var actor: String
    /// May act on what others wrote, and sees who voted.
    public var isModerator: Bool
    /// How fast it may write.
    public var pace: Pace

    /// What binds how fast somebody writes.
    public enum Pace: Sendable, Hashable {
        /// Nothing: moderators and administrators, who import.
        case free
        /// What one person may write.
        case person
        /// What one person may write, and what the front end with this name may for all of them.
        case frontend(String)
    }

    /// Who calls, where it is for somebody else: whose calls that wait are counted together.
    public var user: String { if case .frontend(let name) = pace { name } else { actor } }

    /// A caller; by default without special rights, and at any pace.
    public init(actor: String, isModerator: Bool = false, pace: Pace = .free) {
        self.actor = actor
        self.isModerator = isModerator
        self.pace = pace
    }
}

/// A page of items to read.
public struct ListRequest: Sendable, Hashable {
    /// Which list; nil: the first that a screen would show, in the scope if one is named.
    public var component: String?
    /// Only the lists of this scope; nil: of all of them.
    public var scope: String?
    /// nil: all items; empty: the roots; else the children of this item.
    public var parent: String?
    /// The selected filters.
    public var selection: Selection
    /// Text to search; nil or empty: none.
    public var search: String?
    /// Field names, `-` before for descending.
    public var sort: [String]
    /// Only these fields; nil: all.
    public var fields: [String]?
    /// Whether to answer with sections and counts.
    public var facets: Bool
    /// Whether to answer with how the list is to be shown.
    public var isPresented: Bool
    /// Whose ballot is `mine`: an actor's name.
    public var actor: String?
    /// Who asks, whose long queries take turns with those of others.
    public var user: String
    /// At most so many items, 1 to 1,000.
    public var limit: Int
    /// Goes on after a page.
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

    /// Where a screen would stand that shows this.
    var mode: ListMode {
        ListMode(isInside: parent?.isEmpty == false, isSearching: search?.isEmpty == false)
    }
}

/// An item to put.
public struct ItemDraft: Sendable, Hashable {
    /// The item.
    public var item: Item
    /// Only if no entry after this sequence changed the item; 0: only if it is not there; nil: always.
    public var ifRevision: Int64?

    /// A draft.
    public init(item: Item, ifRevision: Int64? = nil) {
        self.item = item
        self.ifRevision = ifRevision
    }
}
