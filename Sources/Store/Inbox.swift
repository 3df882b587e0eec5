/// The queue of the writer's thread, in order of arrival.
struct Inbox {
    /// An entry with the ticket of its outcome; a class, because it is passed on several times.
    final class Appended: Sendable {
        let entry: Entry
        let ticket: UInt64
        /// The size of its encoding in bytes.
        let size: Int

        init(entry: Entry, ticket: UInt64) {
            self.entry = entry
            self.ticket = ticket
            size = entry.encodedSize
        }
    }

    /// An item of the queue.
    enum Item: Sendable {
        case entry(Appended)
        /// Started when all entries before it are settled.
        case read(@Sendable () -> Void)
    }

    /// The entries of one transaction, and the reads that follow it.
    struct Group {
        var entries: [Appended] = []
        var reads: [@Sendable () -> Void] = []
    }

    private var waiting: [Item] = []
    private var isDraining = false

    /// The number of waiting items, without those that the writer is processing.
    var count: Int { waiting.count }

    /// Adds an item; returns whether the caller has to wake the writer.
    mutating func add(_ item: Item) -> Bool {
        waiting.append(item)
        defer { isDraining = true }
        return !isDraining
    }

    /// Takes all items; nil if there are none, and the writer then stops.
    mutating func takeAll() -> [Item]? {
        guard !waiting.isEmpty else {
            isDraining = false
            return nil
        }
        defer { waiting = [] }
        return waiting
    }

    /// Splits items into groups of at most 1,000 entries, or fewer if they exceed 8 MiB.
    ///
    /// A read may also wait for later entries of its group; it is guaranteed to come after all entries before it.
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
