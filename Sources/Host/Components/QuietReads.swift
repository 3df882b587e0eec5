import DequeModule

/// Reads that wait for a component's committed state, beside the commands and not among them.
///
/// Some of what is committed only the component knows, and it knows it while it is *quiet* alone:
/// while none of its operations is on its way. Such a read waits by itself. Commands that come after
/// it go on, so whoever reads holds nobody up.
///
/// Where commands never pause, the component is never quiet by itself. So a read waits for some
/// *rounds*; one ends when all operations that were on their way when it began are final. From then on
/// commands that came after the read wait for it, no longer than those on their way still take: one
/// commit. All other reads that wait are sent at the same moment.
///
/// A read and a command keep their order where one of both waits: a read shows what was sent before
/// it.
struct QuietReads {
    /// After how many rounds commands wait for a read.
    static let patience = 4

    private var waiting: Deque<(request: Request, since: Int)> = []
    private var round = 0
    /// The last operation that was begun before the present round.
    private var last: UInt64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    var count: Int { waiting.count }

    /// The one that waits the longest.
    var first: Request? { waiting.first?.request }

    /// Lets a read wait behind the others, now that this is the last operation that was begun.
    mutating func append(_ request: Request, newest: UInt64) {
        if waiting.isEmpty { last = newest }
        waiting.append((request, round))
    }

    /// Lets reads that were sent and not answered wait before the others.
    mutating func prepend(_ requests: [Request]) {
        waiting.prepend(contentsOf: requests.map { ($0, round) })
    }

    mutating func removeFirst() -> Request? { waiting.popFirst()?.request }

    /// Takes out the one that has waited the longest of some.
    mutating func removeFirst(where isOne: (Request) -> Bool) -> Request? {
        waiting.firstIndex { isOne($0.request) }.map { waiting.remove(at: $0).request }
    }

    mutating func removeAll() -> [Request] {
        defer { waiting.removeAll() }
        return waiting.map(\.request)
    }

    /// Operations became final.
    ///
    /// - Parameters:
    ///   - oldest: the first that is still on its way; nil: none is.
    ///   - newest: the last that was begun.
    mutating func follow(oldest: UInt64?, newest: UInt64) {
        guard !waiting.isEmpty, oldest.map({ $0 > last }) ?? true else { return }
        round += 1
        last = newest
    }

    /// Whether a command has to wait for the first of them.
    func hold(_ command: Request) -> Bool {
        guard let first = waiting.first, first.request.number < command.number else { return false }
        return round - first.since >= Self.patience
    }
}
