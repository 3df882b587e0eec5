import Index

/// An item as lists show it.
///
/// The object stays the same as long as it shows the same: windows share it, and compare it by identity.
final class ShownItem: Sendable {
    let row: IndexedItem
    /// The item as everyone reads it, without anybody's ballot.
    let view: ItemView
    /// Its approximate memory in bytes.
    let weight: Int

    init(_ row: IndexedItem, _ view: ItemView) {
        self.row = row
        self.view = view
        weight = view.weight
    }
}

extension ShownItem: Hashable {
    static func == (one: ShownItem, other: ShownItem) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The content of all screens with the same choices, at one time; immutable.
final class ViewState: ShownState, Sendable {
    struct List: Sendable {
        let component: String
        let total: Int
        /// Whether there are more items than ``total``.
        let hasMore: Bool
        let state: ListState
        let items: [ShownItem]

        /// Whether both show the same, apart from their items.
        func shows(sameAs other: List) -> Bool {
            component == other.component && total == other.total && hasMore == other.hasMore
                && state == other.state
        }
    }

    /// Identifies the state.
    let number: UInt64
    /// Nil before anything is shown.
    let outline: ContainerOutline?
    /// Nil while the container has no scopes.
    let scope: String?
    let components: [ScreenComponent]
    /// Nil if no filters component is shown.
    let sections: [SectionView]?
    let lists: [List]
    let path: [String]
    let bytes: Int

    private let changes = StepCache<ViewChange>()

    init(
        number: UInt64, outline: ContainerOutline?, scope: String?, components: [ScreenComponent],
        sections: [SectionView]?,
        lists: [List], path: [String]
    ) {
        self.number = number
        self.outline = outline
        self.scope = scope
        self.components = components
        self.sections = sections
        self.lists = lists
        self.path = path
        let items = lists.reduce(0) { $1.items.reduce($0) { $0 + $1.weight } }
        bytes = (sections ?? []).reduce(1_000 + items) { $0 + $1.weight }
    }

    /// The change from another state, made once for all screens that need it; nil: from nothing.
    func change(from old: ViewState?) -> ViewChange {
        changes.step(from: old?.number ?? 0) { ViewChange(from: old, to: self) }
    }
}

/// The change for all screens with the same choices; nil members did not change.
public final class ViewChange: Sendable {
    /// The container itself.
    public let outline: ContainerOutline?
    /// The scope; empty: the container no longer has scopes.
    public let scope: String?
    /// The components, in order.
    public let components: [ScreenComponent]?
    /// The sections that changed.
    ///
    /// If ``components`` is set, these are all sections in order, and none if filters are no longer shown. Otherwise
    /// these are the sections that offer something else, each of which replaces the one with its id.
    public let sections: [SectionView]?
    /// The changed counts and selections of sections that offer the same filters.
    public let counts: [CountChange]
    /// The lists that changed, without anybody's ballots.
    public let lists: [ListChange<ItemView>]
    /// The entered item after its ancestors, outermost first.
    public let path: [String]?

    private let bytes = MadeOnce<ChangeBytes>()
    /// The items that were not shown before.
    let newItems: [String]

    init(from old: ViewState?, to new: ViewState) {
        let change = SectionChange(from: old?.sections, to: new.sections)
        outline = old?.outline === new.outline ? nil : new.outline
        scope = old?.scope == new.scope ? nil : new.scope ?? ""
        let isSame = old?.components == new.components && !change.comesOrGoes
        components = isSame ? nil : new.components
        let isWhole = change.comesOrGoes || !isSame && !change.offers.isEmpty
        // Empty, not nil, if there were some before: nil would mean unchanged.
        let all = new.sections ?? (old?.sections == nil ? nil : [])
        sections = isWhole ? all : change.offers.isEmpty ? nil : change.offers
        counts = isWhole ? [] : change.counts
        path = old?.path == new.path ? nil : new.path
        var lists: [ListChange<ItemView>] = []
        var newItems: [String] = []
        for list in new.lists {
            let before = old?.lists.first { $0.component == list.component }
            guard let change = list.change(from: before) else { continue }
            lists.append(change)
            for case .insert(let item, _) in change.edits { newItems.append(item.id) }
        }
        self.lists = lists
        self.newItems = newItems
    }

    /// Whether nothing changed.
    public var isEmpty: Bool {
        outline == nil && scope == nil && components == nil && sections == nil && counts.isEmpty
            && path == nil
            && lists.isEmpty
    }

    /// The change as bytes, encoded once for all who receive it.
    public func encoded(_ encode: () -> ChangeBytes) -> ChangeBytes {
        bytes.value(encode)
    }
}

extension ViewState.List {
    fileprivate func change(from old: Self?) -> ListChange<ItemView>? {
        // Items of another view are compared by content, because each view has its own objects.
        let edits = ListEdit.leading(
            from: old?.items ?? [], to: items, id: { $0.row.id },
            isSame: { $0 === $1 || $0.view == $1.view })
        guard !(old?.shows(sameAs: self) ?? false) || !edits.isEmpty else { return nil }
        return ListChange(
            component: component, total: total, hasMore: hasMore, state: state,
            edits: edits.map { $0.map(\.view) })
    }
}

extension ListEdit {
    /// The same edit with another type of entry.
    func map<Other>(_ transform: (Entry) -> Other) -> ListEdit<Other> {
        switch self {
        case .insert(let entry, let place): .insert(transform(entry), at: place)
        case .remove(let place): .remove(at: place)
        case .move(let place, let goal): .move(at: place, to: goal)
        case .update(let entry, let place): .update(transform(entry), at: place)
        }
    }
}

extension ViewState {
    /// Whether both states show the same.
    func shows(sameAs other: ViewState) -> Bool {
        guard outline === other.outline, scope == other.scope, components == other.components,
            sections == other.sections,
            path == other.path, lists.count == other.lists.count
        else { return false }
        return zip(lists, other.lists).allSatisfy { one, other in
            one.shows(sameAs: other) && one.items == other.items
        }
    }
}
