public import AtriumKit

/// A tally, with the ballot of the actor that the call names.
public struct TallyView: Sendable, Hashable {
    /// The tally.
    public var tally: Tally
    /// The named actor's value, nil without a ballot.
    public var mine: Double?
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
    /// How many items lie under it, in the lists that are shown inside an item and are not asked for; nil: none.
    public var children: Int?
}

/// A section with how many items each filter would show.
public struct SectionView: Sendable, Hashable {
    /// One filter on offer.
    public struct FilterView: Sendable, Hashable {
        /// Its id in the section.
        public var id: String
        /// What people read.
        public var title: String
        /// How many items it would show, which the section's own selection does not reduce; nil: nobody counts, since
        /// the list is that of a source that is asked, or there is none.
        public var count: Int?
        /// Whether it is selected.
        public var selected: Bool
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
    public var more: Bool = false
    /// How many these are, those among them that are selected; nil: none, or not known.
    public var rest: Int?
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
    /// What front ends need not guess of the list, when asked for.
    public var presentation: ListPresentation?
}

/// What front ends are told of a list, so that they need not guess.
public struct ListPresentation: Sendable, Hashable {
    /// What people read above it.
    public var title: String
    /// Its items' fields, in order.
    public var fields: [Field]
    /// How its items are shown; nil: that is the front end's choice.
    public var present: Presentation?
    /// What it is ordered by where nobody asks for another order; empty: by id.
    public var sort: [String]
    /// What people read in its place while it has nothing; nil: that is the front end's choice.
    public var empty: String?
    /// Which votes and which comments its items take; nil: none, or it is not known yet.
    public var votes: ComponentFacts?
    /// As ``votes``.
    public var comments: ComponentFacts?
}

/// The sections of a container with counts for a selection.
public struct FiltersPage: Sendable, Hashable {
    /// The sections, in order.
    public var sections: [SectionView]
    /// How many items of the first list match the whole selection.
    public var total: Int
    /// The last durable sequence that this reflects.
    public var sequence: Int64
    /// The cursor of a section's next page; nil: there is none.
    public var next: String?
}

/// One item with what its source knows beyond its fields.
public struct ItemResult: Sendable, Hashable {
    /// The item.
    public var item: ItemView
    /// More about it, as a JSON object's bytes; nil: nothing.
    public var details: [UInt8]?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
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
}

/// What came of a removal.
public struct RemoveResult: Sendable, Hashable {
    /// How many items were there and are gone.
    public var removed: Int
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64
}
