public import AtriumKit

extension Catalog {
    /// Compares the items, checked by the host, with what is there: all of them go in, or none.
    ///
    /// Of an id that stands twice the last counts. A field that is null counts as absent. It throws when an item
    /// would lie under itself.
    public func put(
        _ items: [Item], _ context: CommandContext
    ) throws(Refusal) -> ContentDecision {
        let batch = Batch(items)
        try checkParents(of: batch)
        var decision = ContentDecision()
        decision.changes.reserveCapacity(batch.items.count)
        for item in batch.items {
            guard let existing = self.item(item.id) else {
                decision.inserted.append(item.id)
                decision.changes.append(item.record)
                continue
            }
            if existing.isSame(as: item) {
                decision.unchanged += 1
            } else {
                decision.updated.append(item.id)
                decision.changes.append(item.record)
            }
        }
        return decision
    }

    /// Removes the items that are there; what lies under them stays.
    public func remove(
        _ ids: [String], _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        var seen: Set<String> = []
        return ids.filter { item($0) != nil && seen.insert($0).inserted }
            .map { .removed(key: $0) }
    }

    /// Refuses a batch after which an item would lie under itself.
    private func checkParents(of batch: Batch) throws(Refusal) {
        // Items known to end at a root, or at one that is not there: nobody walks on from them.
        var safe: Set<String> = []
        for item in batch.items where item.parent != nil {
            var path: [String] = []
            var onPath: Set<String> = []
            var current = item.id
            while !safe.contains(current) {
                guard onPath.insert(current).inserted else {
                    throw Refusal(
                        .refused,
                        "The item '\(item.id)' would lie under itself, through its parent "
                            + "'\(item.parent ?? "")'; give it another parent.",
                        evidence: ["item": item.id, "field": "parent"])
                }
                path.append(current)
                guard let parent = (batch[current] ?? self.item(current))?.parent else { break }
                current = parent
            }
            safe.formUnion(path)
        }
    }
}

/// The items of one command: each id once, the last one given, without null fields.
private struct Batch {
    private(set) var items: [Item] = []
    /// Where each stands in ``items``; empty for a batch of roots that nothing is made of.
    private var places: [String: Int] = [:]

    init(_ given: [Item]) {
        guard !Self.isPlain(given) else {
            items = given
            return
        }
        items.reserveCapacity(given.count)
        for var item in given {
            if Self.hasNull(item) { item.fields = item.fields.filter { !$0.value.isNull } }
            if let place = places[item.id] {
                items[place] = item
            } else {
                places[item.id] = items.count
                items.append(item)
            }
        }
    }

    /// The item with this id; of a batch whose items have no parents nobody asks, and it is not found.
    subscript(id: String) -> Item? { places[id].map { items[$0] } }

    /// Whether nothing is to be made of the items: roots without null fields, in the order of their ids, so that none
    /// stands twice.
    private static func isPlain(_ items: [Item]) -> Bool {
        items.allSatisfy { $0.parent == nil && !hasNull($0) }
            && zip(items, items.dropFirst()).allSatisfy { $0.id < $1.id }
    }

    private static func hasNull(_ item: Item) -> Bool {
        item.fields.contains { if case .null = $0.value { true } else { false } }
    }
}

extension Item {
    /// Whether both say the same, however their numbers are written.
    fileprivate func isSame(as other: Item) -> Bool {
        parent == other.parent && Value.object(fields).isSame(as: .object(other.fields))
    }
}
