import AtriumKit

/// A cache of the items that a source has answered: shown items are kept, and of the others the ones answered last.
struct KeptItems {
    /// When each item was answered or shown last, as a counter.
    private var stamps: [String: UInt64] = [:]
    /// The rough size of each item in bytes; `bytes` is their sum.
    private var sizes: [String: Int] = [:]
    private(set) var bytes = 0
    /// How many open questions show each item.
    private var pins: [String: Int] = [:]
    private var last: UInt64 = 0
    /// The number of items, and of bytes, up to which it is not worth searching for items to evict again.
    private(set) var enough = (items: 0, bytes: 0)

    /// Records that items were answered.
    mutating func touch(_ items: some Sequence<Item>) {
        last += 1
        for item in items {
            stamps[item.id] = last
            measure(item)
        }
    }

    /// Counts the size of an item, in place of its earlier size.
    mutating func measure(_ item: Item) {
        let size = item.roughSize
        bytes += size - (sizes.updateValue(size, forKey: item.id) ?? 0)
    }

    /// Records that one more question shows these items.
    mutating func pin(_ ids: [String]) { for id in ids { pins[id, default: 0] += 1 } }

    /// Records that one question fewer shows these items; returns whether any of them is not shown at all now.
    @discardableResult
    mutating func unpin(_ ids: [String]) -> Bool {
        last += 1
        var isAnyFree = false
        for id in ids {
            guard let count = pins[id] else { continue }
            pins[id] = count > 1 ? count - 1 : nil
            if count == 1 { isAnyFree = true }
            if stamps[id] != nil { stamps[id] = last }
        }
        return isAnyFree
    }

    /// Whether an open question shows an item.
    func isShown(_ id: String) -> Bool { pins[id] != nil }

    /// When an item was answered or shown last; smaller is longer ago.
    func stamp(of id: String) -> UInt64 { stamps[id] ?? 0 }

    /// Forgets an item that was evicted or removed.
    mutating func remove(_ id: String) {
        stamps[id] = nil
        bytes -= sizes.removeValue(forKey: id) ?? 0
    }

    /// Sets the size from which it is worth searching for items to evict again.
    mutating func setEvictionSize(at count: Int, bytes: Int) { enough = (count, bytes) }
}
