import Index

/// Which of the items that a source has answered are kept: those that are shown, and of the others those that were
/// answered last.
struct KeptItems {
    /// When each was answered, or shown, last.
    private var stamps: [String: UInt64] = [:]
    /// By how many open questions each is shown.
    private var pins: [String: Int] = [:]
    private var last: UInt64 = 0
    /// How many there have to be before it is worth looking again.
    private var most = 0

    /// Items were answered.
    mutating func touch(_ ids: some Sequence<String>) {
        last += 1
        for id in ids { stamps[id] = last }
    }

    /// A question shows these, and not those that it did.
    mutating func pin(_ ids: [String], insteadOf old: [String]) {
        for id in ids { pins[id, default: 0] += 1 }
        for id in old {
            guard let count = pins[id] else { continue }
            pins[id] = count > 1 ? count - 1 : nil
        }
        touch(old)
        most = 0
    }

    /// Takes out the items to be let go, some more than there are too many, so that this is seldom.
    mutating func takeSurplus(
        of list: ContentIndex, atMost limit: Int, _ isInUse: (String) -> Bool
    ) -> [String] {
        guard list.count > max(limit, most) else { return [] }
        let ids = list.ids(inRows: 0..<list.rowCount)
        let free = ids.filter { pins[$0] == nil && !isInUse($0) }
            .map { (stamp: stamps[$0] ?? 0, id: $0) }.sorted { $0.stamp < $1.stamp }
        let gone = free.prefix(list.count - limit + limit / 16).map(\.id)
        for id in gone { stamps[id] = nil }
        // All of them are shown: not each answer is to look through them.
        most = list.count - gone.count + limit / 16
        return gone
    }
}
