import DequeModule

/// Reads that need a component's committed state, and wait for it in a queue apart from the commands.
///
/// Some committed state is known to the component alone, and only while it is *quiet*, which means that none of its
/// operations is under way. Such a read waits in this queue. Commands that come after it don't wait, so a read delays
/// nobody.
///
/// If commands never pause, the component is never quiet. A read therefore waits for a number of *rounds*; a round
/// ends when all operations that were under way at its beginning are final. After ``patience`` rounds, commands that
/// came after the read wait for it, but only for the operations under way: one commit. All other waiting reads are
/// sent at the same moment.
///
/// A read and a command keep their order if one of them waits: a read shows what was sent before it.
struct QuietReads {
    /// The number of rounds after which commands wait for a read.
    static let patience = 4

    private var waiting: Deque<(request: Request, since: Int)> = []
    private var round = 0
    /// The last operation that was begun before the present round.
    private var last: UInt64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    var count: Int { waiting.count }

    /// The read that has waited longest.
    var first: Request? { waiting.first?.request }

    /// Appends a read; `newest` is the last operation that was begun.
    mutating func append(_ request: Request, newest: UInt64) {
        if waiting.isEmpty { last = newest }
        waiting.append((request, round))
    }

    /// Puts reads that were sent but not answered in front of the others.
    mutating func prepend(_ requests: [Request]) {
        waiting.prepend(contentsOf: requests.map { ($0, round) })
    }

    mutating func removeFirst() -> Request? { waiting.popFirst()?.request }

    /// Removes the read that has waited longest of those that match.
    mutating func removeFirst(where isOne: (Request) -> Bool) -> Request? {
        waiting.firstIndex { isOne($0.request) }.map { waiting.remove(at: $0).request }
    }

    mutating func removeAll() -> [Request] {
        defer { waiting.removeAll() }
        return waiting.map(\.request)
    }

    /// Records that operations became final: those before the oldest one under way, or up to the newest.
    mutating func follow(oldest: UInt64?, newest: UInt64) {
        guard !waiting.isEmpty, oldest.map({ $0 > last }) ?? true else { return }
        round += 1
        last = newest
    }

    /// Whether a command has to wait for the first read.
    func mustWait(_ command: Request) -> Bool {
        guard let first = waiting.first, first.request.number < command.number else { return false }
        return round - first.since >= Self.patience
    }
}
