public import AtriumKit

/// A tally, with the ballot of the actor that the call names.
public struct TallyView: Sendable, Hashable {
    /// The tally.
    public var tally: Tally
    /// The value of the named actor's ballot; nil without one.
    public var mine: Double?
}

/// An item as calls return it.
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
    /// How many items lie under it; nil: none.
    ///
    /// Counts the lists that are shown inside an item, except those whose source is asked for items.
    public var children: Int?
}

/// A section with how many items each filter would show.
public struct SectionView: Sendable, Hashable {
    /// One filter on offer.
    public struct FilterView: Sendable, Hashable {
        /// Its id in the section.
        public var id: String
        /// The title that people read.
        public var title: String
        /// How many items it would show, ignoring the selection in its own section.
        ///
        /// nil: the count is unknown, because the list comes from a source that is asked, or there is no list.
        public var count: Int?
        /// Whether it is selected.
        public var selected: Bool
    }

    /// Its id in the container.
    public var id: String
    /// The title that people read.
    public var title: String
    /// How its filters combine.
    public var input: SectionInput
    /// The filters on offer, and those selected beside them.
    public var filters: [FilterView]
    /// Whether more values can be selected than the filters list.
    public var more: Bool = false
    /// How many more values there are, including selected ones; nil: none, or not known.
    public var rest: Int?
}

/// A page of items; everything in it is of the same moment.
public struct ListPage: Sendable, Hashable {
    /// The items.
    public var items: [ItemView]
    /// How many items match in total.
    public var total: Int
    /// Sections with counts, if requested.
    public var sections: [SectionView]?
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that the page reflects.
    public var sequence: Int64
    /// How to show the list, if requested.
    public var presentation: ListPresentation?
}

/// How a list is shown, so that front ends need not guess.
public struct ListPresentation: Sendable, Hashable {
    /// The title that people read above it.
    public var title: String
    /// Its items' fields, in order.
    public var fields: [Field]
    /// How its items are shown; nil: the front end chooses.
    public var present: Presentation?
    /// The default order; empty: by id.
    public var sort: [String]
    /// The text that people read while it is empty; nil: the front end chooses.
    public var empty: String?
    /// Which votes its items take; nil: none, or not known yet.
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

/// One item with the details that its source has beyond its fields.
public struct ItemResult: Sendable, Hashable {
    /// The item.
    public var item: ItemView
    /// The details as a JSON object's bytes; nil: none.
    public var details: [UInt8]?
    /// The last durable sequence that this reflects.
    public var sequence: Int64
}

/// The result of a put.
public struct PutResult: Sendable, Hashable {
    /// How many items were new.
    public var inserted: Int
    /// How many items existed with other content.
    public var updated: Int
    /// How many items existed with the same content.
    public var unchanged: Int
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64
}

/// The result of a removal.
public struct RemoveResult: Sendable, Hashable {
    /// How many items existed and were removed.
    public var removed: Int
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64
}
