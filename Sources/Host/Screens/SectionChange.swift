/// What is counted or selected otherwise in a section that offers what it did.
public struct CountChange: Sendable, Hashable {
    /// One filter of the section.
    public struct Place: Sendable, Hashable {
        /// Its place in the section.
        public var at: Int
        /// How many items it would show; nil: nobody counts.
        public var count: Int?
        /// Whether it is selected.
        public var selected: Bool
    }

    /// The section's id.
    public var section: String
    /// The filters that changed, in their order.
    public var filters: [Place]

    /// What leads from one state of a section to another; nil where it offers something else.
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

/// What became of the sections of a view.
struct SectionChange {
    /// Whether sections came, went or stand in another order, so that only all of them tell.
    let comesOrGoes: Bool
    /// Else those that offer something else.
    private(set) var offers: [SectionView] = []
    /// What became of the others, where anything did.
    private(set) var counts: [CountChange] = []

    init(from old: [SectionView]?, to new: [SectionView]?) {
        let ids = new?.map(\.id) ?? []
        // Two of one id can't be told apart.
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
