/// Which of the items that a source has answered are kept: those that are shown, and of the others those that were
/// answered last.
struct KeptItems {
    /// When each was answered, or shown, last.
    private var stamps: [String: UInt64] = [:]
    /// By how many open questions each is shown.
    private var pins: [String: Int] = [:]
    private var last: UInt64 = 0
    /// How many there have to be before it is worth looking again which of them may go.
    private(set) var enough = 0

    /// Items were answered.
    mutating func touch(_ ids: some Sequence<String>) {
        last += 1
        for id in ids { stamps[id] = last }
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
    mutating func forget(_ id: String) { stamps[id] = nil }

    /// So many are left: it is looked again once there are more.
    mutating func settle(at count: Int) { enough = count }
}
