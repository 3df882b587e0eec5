/// Changed counts and selections in a section that offers the same filters.
public struct CountChange: Sendable, Hashable {
    /// One filter of the section.
    public struct Place: Sendable, Hashable {
        /// Its index in the section.
        public var at: Int
        /// How many items it would show; nil: the count is unknown.
        public var count: Int?
        /// Whether it is selected.
        public var selected: Bool
    }

    /// The section's id.
    public var section: String
    /// The filters that changed, in their order.
    public var filters: [Place]

    /// The change from one state of a section to another; nil if it offers something else.
    init?(from old: SectionView, to new: SectionView) {
        guard old.title == new.title, old.input == new.input, old.more == new.more,
            old.rest == new.rest,
            old.filters.count == new.filters.count
        else { return nil }
        section = new.id
        filters = []
        for (place, (before, now)) in zip(old.filters, new.filters).enumerated() {
            guard before.id == now.id, before.title == now.title else { return nil }
            if before != now {
                filters.append(Place(at: place, count: now.count, selected: now.selected))
            }
        }
    }
}

/// The changes of a view's sections.
struct SectionChange {
    /// Whether sections were added, removed or reordered, so that all of them must be sent.
    let comesOrGoes: Bool
    /// If not: the sections that offer something else.
    private(set) var offers: [SectionView] = []
    /// The changed counts of the other sections.
    private(set) var counts: [CountChange] = []

    init(from old: [SectionView]?, to new: [SectionView]?) {
        let ids = new?.map(\.id) ?? []
        // Sections with the same id can't be distinguished.
        let isUnique = Set(ids).count == ids.count
        comesOrGoes = old?.map(\.id) != new?.map(\.id) || !isUnique && old != new
        guard !comesOrGoes, let old, let new else { return }
        for (before, now) in zip(old, new) where before != now {
            if let change = CountChange(from: before, to: now) {
                counts.append(change)
            } else {
                offers.append(now)
            }
        }
    }
}
