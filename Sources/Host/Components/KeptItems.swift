import AtriumKit

/// Which of the items that a source has answered are kept: those that are shown, and of the others those that were
/// answered last.
struct KeptItems {
    /// When each was answered, or shown, last.
    private var stamps: [String: UInt64] = [:]
    /// How large each is, roughly, and all of them together.
    private var sizes: [String: Int] = [:]
    private(set) var bytes = 0
    /// By how many open questions each is shown.
    private var pins: [String: Int] = [:]
    private var last: UInt64 = 0
    /// How many there have to be, and of how many bytes, before it is worth looking again which of them may go.
    private(set) var enough = (items: 0, bytes: 0)

    /// Items were answered.
    mutating func touch(_ items: some Sequence<Item>) {
        last += 1
        for item in items {
            stamps[item.id] = last
            measure(item)
        }
    }

    /// Counts the size of an item, in place of the one that it had before.
    mutating func measure(_ item: Item) {
        let size = item.roughSize
        bytes += size - (sizes.updateValue(size, forKey: item.id) ?? 0)
    }

    /// These are shown once more.
    mutating func pin(_ ids: [String]) { for id in ids { pins[id, default: 0] += 1 } }

    /// These are shown once less.
    ///
    /// - Returns: whether any is shown no more.
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

    /// Which of two items was answered, or shown, longer ago.
    func stamp(of id: String) -> UInt64 { stamps[id] ?? 0 }

    /// An item is let go.
    mutating func forget(_ id: String) {
        stamps[id] = nil
        bytes -= sizes.removeValue(forKey: id) ?? 0
    }

    /// So many are left: it is looked again once there are more.
    mutating func settle(at count: Int, bytes: Int) { enough = (count, bytes) }
}
