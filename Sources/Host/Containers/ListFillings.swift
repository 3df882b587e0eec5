import AtriumKit

/// The contents components of a container whose items are being put into a new list: at most one filling each.
final class ListFillings {
    private var present: [String: ListFilling] = [:]
    private unowned let container: Container

    init(of container: Container) { self.container = container }

    /// Whether no list is being filled.
    var isEmpty: Bool { present.isEmpty }

    /// The filling of a component's list; nil: it is not being filled.
    subscript(component: String) -> ListFilling? {
        present[component].flatMap { $0.isWanted ? $0 : nil }
    }

    /// Whether a filling is the present one of its component.
    func isPresent(_ filling: ListFilling) -> Bool { present[filling.slot.name] === filling }

    /// Fills a new list with the items of a load.
    func fill(_ slot: Slot, with items: ItemList, then done: @escaping () -> Void) {
        begin(slot).run(items, then: done)
    }

    /// Requests all items of a contents component, and shows them together in a new list.
    func refill(_ slot: Slot) {
        guard slot.isAttached, slot.kind == .contents else { return }
        if let asked = slot.asked { return asked.askAgain() }
        if let filling = self[slot.name] { return filling.outdate() }
        begin(slot).ask()
    }

    private func begin(_ slot: Slot) -> ListFilling {
        let filling = ListFilling(of: slot, in: container)
        present[slot.name] = filling
        return filling
    }

    /// Records that a filling is over, unless another one has taken its place.
    func end(_ filling: ListFilling) {
        if isPresent(filling) { present[filling.slot.name] = nil }
    }

    /// Forgets fillings whose component was lost: they don't end by themselves.
    func removeUnwanted() {
        if !present.isEmpty { present = present.filter(\.value.isWanted) }
    }
}
