import AtriumKit
import Index

/// An item as lists show it, one object as long as it shows the same: windows that have it in common
/// hold it once, and compare it by identity.
final class ShownItem: Sendable {
    let row: IndexedItem
    /// As everybody reads it: nobody's ballot in it.
    let view: ItemView
    /// About what it takes in memory.
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

/// What everybody who chose the same sees at one moment; never changed.
final class ViewState: ShownState, Sendable {
    struct List: Sendable {
        let component: String
        let total: Int
        /// Whether there are more than ``total`` tells.
        let hasMore: Bool
        let state: ListState
        let items: [ShownItem]

        /// Whether it says the same of itself.
        func shows(sameAs other: List) -> Bool {
            component == other.component && total == other.total && hasMore == other.hasMore
                && state == other.state
        }
    }

    /// Tells it from every other state.
    let number: UInt64
    /// Nil before anything is shown.
    let outline: ContainerOutline?
    /// Nil while the container has no scopes.
    let scope: String?
    let components: [ScreenComponent]
    /// Nil where no filters component is shown.
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

    /// Whether any of its lists shows what a vote is about.
    func shows(_ subject: Subject) -> Bool {
        guard let id = subject.item else { return false }
        return lists.contains { list in list.items.contains { $0.row.id == id } }
    }

    /// What leads here from another state, made once for all who are there; nil: from nothing.
    func change(from old: ViewState?) -> ViewChange {
        changes.step(from: old?.number ?? 0) { ViewChange(from: old, to: self) }
    }
}

/// What changed for everybody who chose the same; what is nil did not change.
public final class ViewChange: Sendable {
    /// The container itself.
    public let outline: ContainerOutline?
    /// The scope; empty: the container has none any more.
    public let scope: String?
    /// The components, in order.
    public let components: [ScreenComponent]?
    /// With ``components`` all sections, in order, and none where filters are not shown any more; without,
    /// those that offer something else, each in place of the one of its id.
    public let sections: [SectionView]?
    /// What is counted or selected otherwise in sections that offer what they did.
    public let counts: [CountChange]
    /// The lists that changed; nobody's ballots in them.
    public let lists: [ListChange<ItemView>]
    /// The entered item, after those that it lies under, outermost first.
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
        // None where there were some: nil would say that they are as before.
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

    /// The change as bytes, written once for all who take part in it.
    public func encoded(_ encode: () -> ChangeBytes) -> ChangeBytes {
        bytes.value(encode)
    }
}

extension ViewState.List {
    fileprivate func change(from old: Self?) -> ListChange<ItemView>? {
        // What another view shows alike is the same, though it holds it on its own.
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
    /// The same step with another kind of entry.
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
    /// Whether readers see the same.
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
