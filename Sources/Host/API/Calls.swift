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

    /// A caller; by default without special rights, and at any pace.
    public init(actor: String, isModerator: Bool = false, pace: Pace = .free) {
        self.actor = actor
        self.isModerator = isModerator
        self.pace = pace
    }
}

/// A page of items to read.
public struct ListRequest: Sendable, Hashable {
    /// Which list; nil: the first, of the scope if one is named.
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
        fields: [String]? = nil, facets: Bool = false, actor: String? = nil, user: String = "",
        limit: Int = 50, cursor: String? = nil
    ) {
        self.component = component
        self.scope = scope
        self.parent = parent
        self.selection = selection
        self.search = search
        self.sort = sort
        self.fields = fields
        self.facets = facets
        self.actor = actor
        self.user = user
        self.limit = limit
        self.cursor = cursor
    }
}

/// A tally, with the ballot of the actor that the call names.
public struct TallyView: Sendable, Hashable {
    /// The tally.
    public var tally: Tally
    /// The named actor's value, nil without a ballot.
    public var mine: Double?

    /// A tally with the named actor's value.
    public init(tally: Tally, mine: Double?) {
        self.tally = tally
        self.mine = mine
    }
}

/// An item as it is read.
public struct ItemView: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// The item that it lies under; nil for a root.
    public var parent: String?
    /// Its fields as a JSON object's bytes.
    public var fields: [UInt8]
    /// Its tally; nil where the container has no votes component.
    public var votes: TallyView?
    /// How many comments; nil where the container has no comments component.
    public var comments: Int?

    /// An item.
    public init(
        id: String, parent: String? = nil, fields: [UInt8], votes: TallyView?, comments: Int?
    ) {
        self.id = id
        self.parent = parent
        self.fields = fields
        self.votes = votes
        self.comments = comments
    }
}

/// A section with how many items each filter would show.
public struct SectionView: Sendable, Hashable {
    /// One filter on offer.
    public struct FilterView: Sendable, Hashable {
        /// Its id in the section.
        public var id: String
        /// What people read.
        public var title: String
        /// How many items it would show; the section's own selection does not reduce it.
        public var count: Int
        /// Whether it is selected.
        public var selected: Bool

        /// A filter with its count.
        public init(id: String, title: String, count: Int, selected: Bool) {
            self.id = id
            self.title = title
            self.count = count
            self.selected = selected
        }
    }

    /// Its id in the container.
    public var id: String
    /// What people read.
    public var title: String
    /// How its filters combine.
    public var input: SectionInput
    /// The filters on offer, and those selected beside them.
    public var filters: [FilterView]
    /// Whether there are further values to select, which are not among them.
    public var more: Bool

    /// A section with its counts.
    public init(
        id: String, title: String, input: SectionInput, filters: [FilterView], more: Bool = false
    ) {
        self.more = more
        self.id = id
        self.title = title
        self.input = input
        self.filters = filters
    }
}

/// A page of items; everything in it is of the same moment.
public struct ListPage: Sendable, Hashable {
    /// The items.
    public var items: [ItemView]
    /// How many match in all.
    public var total: Int
    /// Sections with counts, when asked for.
    public var sections: [SectionView]?
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that the page reflects.
    public var sequence: Int64

    /// A page.
    public init(
        items: [ItemView], total: Int, sections: [SectionView]?, next: String?, sequence: Int64
    ) {
        self.items = items
        self.total = total
        self.sections = sections
        self.next = next
        self.sequence = sequence
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

/// What came of a put.
public struct PutResult: Sendable, Hashable {
    /// How many were new.
    public var inserted: Int
    /// How many were there with other content.
    public var updated: Int
    /// How many were there just so.
    public var unchanged: Int
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64

    /// A result.
    public init(inserted: Int, updated: Int, unchanged: Int, sequence: Int64) {
        self.inserted = inserted
        self.updated = updated
        self.unchanged = unchanged
        self.sequence = sequence
    }
}

/// What came of a vote.
public struct VoteResult: Sendable, Hashable {
    /// The subject's tally, and the caller's value in it.
    public var tally: TallyView
    /// The value before.
    public var previous: Double?
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64

    /// A result.
    public init(tally: TallyView, previous: Double?, sequence: Int64) {
        self.tally = tally
        self.previous = previous
        self.sequence = sequence
    }
}

/// One ballot as moderators read it.
public struct BallotView: Sendable, Hashable {
    /// The actor's name.
    public var actor: String
    /// The value.
    public var value: Double
    /// When it was cast.
    public var cast: Timestamp

    /// A ballot.
    public init(actor: String, value: Double, cast: Timestamp) {
        self.actor = actor
        self.value = value
        self.cast = cast
    }
}

/// A comment as it is read: at its place, with its author's name.
public struct CommentView: Sendable, Hashable {
    /// The comment at its place.
    public var entry: ThreadPage.Entry
    /// The author's name; nil for a tombstone or an erased person.
    public var author: String?

    /// A comment.
    public init(entry: ThreadPage.Entry, author: String?) {
        self.entry = entry
        self.author = author
    }
}
