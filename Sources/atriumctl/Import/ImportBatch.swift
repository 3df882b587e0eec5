import Interfaces

/// Lines that are sent to the daemon in one call: all items, or all records.
struct ImportBatch: Sendable {
    /// How many entries a call takes at most.
    enum Limit {
        static let entries = 1000
        /// How many bytes of entries a call has at most, where there is more than one: what comes of them is one entry of
        /// the store, which has a MiB at most.
        static let bytes = 768 << 10
    }

    /// One line.
    struct Entry: Sendable {
        var line: Int
        var content: Content
        var bytes: Int
        /// Which fields the line names; nil: all that the item is to have.
        var named: NamedFields?
    }

    enum Content: Sendable {
        case item(Contents.Put.Parameters.Items)
        case record(Record)

        /// What identifies an entry in its container.
        var identity: [String] {
            switch self {
            case .item(let item): [item.id]
            case .record(let record): [record.component, record.key, record.actor ?? ""]
            }
        }

        var isRecord: Bool {
            if case .record = self { true } else { false }
        }
    }

    var entries: [Entry] = []
    private(set) var bytes = 0

    init() {}

    init(_ entries: some Sequence<Entry>) {
        self.entries = Array(entries)
        bytes = self.entries.reduce(0) { $0 + $1.bytes }
    }

    var isEmpty: Bool { entries.isEmpty }
    var holdsRecords: Bool { entries.first?.content.isRecord ?? false }

    /// Whether there is room for the entry, and it is of the same kind as the others.
    func takes(_ entry: Entry) -> Bool {
        guard let first = entries.first else { return true }
        return entries.count < Limit.entries && bytes + entry.bytes <= Limit.bytes
            && first.content.isRecord == entry.content.isRecord
    }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.bytes
    }

    /// Splits the batch into pieces of at most so many entries.
    func pieces(of count: Int) -> [ImportBatch] {
        stride(from: 0, to: entries.count, by: count).map {
            ImportBatch(entries[$0..<min($0 + count, entries.count)])
        }
    }

    var items: [Contents.Put.Parameters.Items] {
        entries.compactMap { entry in
            if case .item(let item) = entry.content { item } else { nil }
        }
    }

    var records: [Record] {
        entries.compactMap { entry in
            if case .record(let record) = entry.content { record } else { nil }
        }
    }
}
