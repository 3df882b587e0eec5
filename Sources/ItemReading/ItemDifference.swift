package import AtriumKit

/// The difference between two states of a source's items.
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

extension ItemDifference {
    /// Reports the difference to a list's delegate; the list has the new items by then.
    package func report(
        _ delegate: (any ContentListingDelegate)?, of listing: any ContentListing
    ) {
        guard !isWhole else {
            delegate?.contentListing(listing, didChange: .replaceAll)
            return
        }
        // What comes may be the parent of what moves, and what goes have been one.
        if !inserted.isEmpty { delegate?.contentListing(listing, didChange: .insert(inserted)) }
        if !updated.isEmpty { delegate?.contentListing(listing, didChange: .update(updated)) }
        if !removed.isEmpty { delegate?.contentListing(listing, didChange: .remove(removed)) }
    }
}

extension ComponentContext {
    /// Frees items on another thread if there are more than 1,000, since freeing them on the loop would block it.
    package func freeInBackground(_ items: [String: Item]) {
        guard items.count > 1_000 else { return }
        background {
            withExtendedLifetime(items) {}
        } then: { _ in
        }
    }
}
