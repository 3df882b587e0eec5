internal import Synchronization

/// Entries that are committed, and whose changes are still to be written to the records.
///
/// It is used on the writer's queue only. A transaction's additions and writes take effect when it commits.
struct Tail {
    struct Waiting {
        var sequence: Int64
        var container: String
        var position: Int64
        /// The changes; empty if there are none, or if they were written together with the entry.
        var changes: [RecordChange]
        /// The sum of the entry's row without the changes.
        var sum: Int64
    }

    /// The number of waiting changes at which some are written.
    static let most = 200
    /// The number of waiting entries at which their containers' positions are written, even without changes.
    static let mostEntries = 1_000

    private var waiting: [Waiting] = []
    private var changeCount = 0
    /// The number of the entries that were already committed when the transaction began.
    private var committed = 0
    /// The number of entries whose changes the transaction has written.
    private var made = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// Whether some of the tail should be written now.
    var isLong: Bool { changeCount >= Self.most || waiting.count >= Self.mostEntries }

    var all: ArraySlice<Waiting> { waiting[...] }
    /// The entries that the transaction added.
    var added: ArraySlice<Waiting> { waiting[committed...] }
    /// The entries whose changes the transaction wrote.
    var taken: ArraySlice<Waiting> { waiting[..<made] }

    /// The next entry whose changes the transaction should write.
    var next: Waiting? { made < waiting.count ? waiting[made] : nil }

    mutating func add(_ entry: Waiting) {
        waiting.append(entry)
        changeCount += entry.changes.count
    }

    /// Marks the next entry's changes as written.
    mutating func markNextWritten() {
        changeCount -= waiting[made].changes.count
        made += 1
    }

    /// The position of the container's last entry in the tail; nil: none.
    func position(of container: String) -> Int64? {
        waiting.last { $0.container == container }?.position
    }

    /// Applies the transaction's additions and writes, after it has committed.
    mutating func commit() {
        waiting.removeFirst(made)
        made = 0
        committed = waiting.count
    }

    /// Undoes everything since the transaction began.
    mutating func rollBack() {
        waiting.removeSubrange(committed...)
        made = 0
        changeCount = waiting.reduce(0) { $0 + $1.changes.count }
    }
}

/// The tail's changes as readers see them: these records replace those in the file.
///
/// Readers search the waiting entries one by one: there are few of them, and reads of records are rare compared to
/// writes.
final class LateRecords: Sendable {
    struct Late: Sendable {
        /// The value; nil: the record was removed.
        var value: [UInt8]?
        var sequence: Int64
        /// The first entry of the tail that wrote it, after its last removal there.
        var created: Int64
        /// Whether the tail removed it before: the file's record under the key is then another one.
        var isNew: Bool
    }

    /// The tail at one moment.
    struct Table: Sendable {
        /// The last entry whose changes are in the file's records; those of later entries are here.
        fileprivate(set) var applied: Int64
        /// The last committed entry.
        fileprivate(set) var last: Int64
        fileprivate var waiting: [Tail.Waiting] = []

        /// The tail's record under a key, compared by bytes: strings that are equal may differ in bytes.
        subscript(key: RecordKey) -> Late? {
            var late: Late?
            for entry in waiting {
                for change in entry.changes
                where change.key == key.key && change.key.utf8.elementsEqual(key.key.utf8)
                    && change.component == key.component && change.container == key.container
                {
                    late = Late(change, in: entry, after: late)
                }
            }
            return late
        }

        /// The tail's records of a component, ordered by their keys' bytes.
        func records(_ container: String, _ component: String) -> [(key: [UInt8], Late)] {
            var records: [[UInt8]: Late] = [:]
            for entry in waiting {
                for change in entry.changes
                where change.component == component && change.container == container {
                    let key = Array(change.key.utf8)
                    records[key] = Late(change, in: entry, after: records[key])
                }
            }
            return records.map { (key: $0.key, $0.value) }
                .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        }
    }

    private let table: Mutex<Table>

    init(_ tail: Tail, applied: Int64) {
        table = Mutex(
            Table(
                applied: applied, last: tail.all.last?.sequence ?? applied,
                waiting: Array(tail.all)))
    }

    var current: Table { table.withLock { $0 } }

    /// Updates the table after a transaction has committed.
    func update(with tail: Tail) {
        table.withLock { table in
            table.waiting += tail.added
            if let added = tail.added.last { table.last = added.sequence }
            guard let taken = tail.taken.last else { return }
            table.applied = taken.sequence
            table.waiting.removeFirst(tail.taken.count)
        }
    }
}

extension LateRecords.Late {
    /// Applies a change to the tail's record under its key, if there is one.
    fileprivate init(_ change: RecordChange, in entry: Tail.Waiting, after known: Self?) {
        value = change.value
        sequence = entry.sequence
        created = known?.value == nil ? entry.sequence : known?.created ?? entry.sequence
        isNew = change.value == nil || known?.isNew ?? false
    }
}
