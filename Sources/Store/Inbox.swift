/// What waits for the writer's thread, in the order it came.
struct Inbox {
    /// An entry and the ticket its outcome will carry: an object, since it is passed on a few times.
    final class Appended: Sendable {
        let entry: Entry
        let ticket: UInt64
        /// Its size, encoded.
        let size: Int

        init(entry: Entry, ticket: UInt64) {
            self.entry = entry
            self.ticket = ticket
            size = entry.encodedSize
        }
    }

    /// One thing to do, in order.
    enum Item: Sendable {
        case entry(Appended)
        /// Started once all entries before it have settled.
        case read(@Sendable () -> Void)
    }

    /// What one transaction takes on, with the reads that follow it.
    struct Group {
        var entries: [Appended] = []
        var reads: [@Sendable () -> Void] = []
    }

    private var waiting: [Item] = []
    private var isDraining = false

    /// How much waits; what the writer is at does not.
    var count: Int { waiting.count }

    /// Adds an item; true if the caller has to wake the writer.
    mutating func add(_ item: Item) -> Bool {
        waiting.append(item)
        defer { isDraining = true }
        return !isDraining
    }

    /// Takes all there is; nil, and the writer rests, when that is nothing.
    mutating func takeAll() -> [Item]? {
        guard !waiting.isEmpty else {
            isDraining = false
            return nil
        }
        defer { waiting = [] }
        return waiting
    }

    /// Cuts items into groups of at most 1,000 entries, ended early once they exceed 8 MiB.
    ///
    /// A read may wait for later entries of its group too: it is promised those before it, no less.
    static func groups(of items: [Item]) -> [Group] {
        var groups: [Group] = []
        var group = Group()
        var bytes = 0
        for item in items {
            switch item {
            case .entry(let appended):
                if group.entries.count == 1_000 || bytes >= 8 << 20 {
                    groups.append(group)
                    group = Group()
                    bytes = 0
                }
                group.entries.append(appended)
                bytes += appended.size
            case .read(let read):
                group.reads.append(read)
            }
        }
        groups.append(group)
        return groups
    }
}
