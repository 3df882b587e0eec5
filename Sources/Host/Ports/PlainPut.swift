import AtriumKit

extension Decision {
    /// Whether it puts some of the items just as they were given, in their order, and reports nothing else.
    ///
    /// Such a decision has nothing that is not checked already; what a catalog decides is one. Nothing is hashed, and
    /// fields that share their memory with those given are not looked at. A record with more members than an item's is
    /// not as it was given, and each item is reported once at most.
    func putsUnchanged(_ items: [Item]) -> Bool {
        guard case .items(let inserted, let updated, let unchanged) = answer,
            0...items.count ~= unchanged,
            events.reduce(0, { $0 + $1.count }) <= items.count
        else { return false }
        var rest = items[...]
        let areGiven = changes.allSatisfy { change in
            guard case .put(let key, .object(let members)) = change,
                let item = Item(key: key, value: .object(members)),
                members.count == (item.parent == nil ? 1 : 2)
            else { return false }
            return rest.dropThrough { $0.id == key } == item
        }
        return areGiven && items.containInOrder(inserted) && items.containInOrder(updated)
            && events.allSatisfy { event in
                guard case .contents(let change) = event else { return false }
                return switch change {
                case .insert(let reported), .update(let reported): items.containInOrder(reported)
                default: false
                }
            }
    }
}

extension ArraySlice<Item> {
    /// Drops the elements up to the first one that fits, and that one, which is returned.
    fileprivate mutating func dropThrough(_ fits: (Item) -> Bool) -> Item? {
        while let first = popFirst() {
            if fits(first) { return first }
        }
        return nil
    }
}

extension [Item] {
    /// Whether items with these ids are among them, in this order.
    fileprivate func containInOrder(_ ids: [String]) -> Bool {
        var rest = self[...]
        return ids.allSatisfy { id in rest.dropThrough { $0.id == id } != nil }
    }

    /// Whether these items are among them, in this order.
    fileprivate func containInOrder(_ items: [Item]) -> Bool {
        var rest = self[...]
        return items.allSatisfy { item in rest.dropThrough { $0.id == item.id } == item }
    }
}
