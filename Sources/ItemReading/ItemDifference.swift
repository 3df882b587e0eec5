package import AtriumKit

/// What is other in a source than it was.
package struct ItemDifference: Sendable {
    /// Changes of more items than these are reported as `replaceAll`; the host then reads the items in pieces.
    private static let most = 500

    /// All items.
    package let items: [String: Item]
    /// Whether it is reported as `replaceAll`: then there is nothing but ``items``.
    package private(set) var isWhole: Bool
    package private(set) var inserted: [Item] = []
    package private(set) var updated: [Item] = []
    package private(set) var removed: [String] = []

    /// Finds it; nil: nothing is other.
    package init?(_ found: [String: Item], from known: [String: Item], isFirst: Bool) {
        isWhole = isFirst
        guard !isFirst else {
            items = found
            return
        }
        var (items, count) = (found, 0)
        var index = items.startIndex
        while index != items.endIndex {
            let (id, item) = items[index]
            let before = known[id]
            if let before, before == item {
                // What is the same is kept once.
                items.values[index] = before
            } else {
                count += 1
                if count <= Self.most {
                    if before == nil { inserted.append(item) } else { updated.append(item) }
                }
            }
            items.formIndex(after: &index)
        }
        for id in known.keys where items[id] == nil {
            count += 1
            if count <= Self.most { removed.append(id) }
        }
        self.items = items
        if count == 0 { return nil }
        guard count > Self.most else { return }
        isWhole = true
        (inserted, updated, removed) = ([], [], [])
    }
}
