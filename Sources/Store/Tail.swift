internal import Synchronization

/// Entries that are committed, and whose changes are still to be made to the records.
///
/// It belongs to the writer's queue. What a transaction adds and makes counts once that has committed.
struct Tail {
    struct Waiting {
        var sequence: Int64
        var container: String
        var position: Int64
        /// Empty where there are none, and where they were made with the entry.
        var changes: [RecordChange]
        /// The sum of its row without the changes.
        var sum: Int64
    }

    /// So many changes wait before some are made.
    static let most = 200
    /// So many entries wait, where they change nothing, before their containers' positions are written.
    static let mostEntries = 1_000

    private var waiting: [Waiting] = []
    private var changeCount = 0
    /// How many, of the committed ones, were there when the transaction began.
    private var committed = 0
    /// How many the transaction has made.
    private var made = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// Whether some of it is due.
    var isLong: Bool { changeCount >= Self.most || waiting.count >= Self.mostEntries }

    var all: ArraySlice<Waiting> { waiting[...] }
    /// What the transaction has added.
    var added: ArraySlice<Waiting> { waiting[committed...] }
    /// Those whose changes the transaction has made.
    var taken: ArraySlice<Waiting> { waiting[..<made] }

    /// The next one to be made, in the transaction.
    var next: Waiting? { made < waiting.count ? waiting[made] : nil }

    mutating func add(_ entry: Waiting) {
        waiting.append(entry)
        changeCount += entry.changes.count
    }

    /// The next one was made.
    mutating func take() {
        changeCount -= waiting[made].changes.count
        made += 1
    }

    /// The position of the container's last entry, if it is here.
    func position(of container: String) -> Int64? {
        waiting.last { $0.container == container }?.position
    }

    /// The transaction has committed.
    mutating func commit() {
        waiting.removeFirst(made)
        made = 0
        committed = waiting.count
    }

    /// The transaction was rolled back.
    mutating func rollBack() {
        waiting.removeSubrange(committed...)
        made = 0
        changeCount = waiting.reduce(0) { $0 + $1.changes.count }
    }
}

/// Records as the tail will make them: readers put them in the place of those in the file.
///
/// Readers find them among the entries that wait: these are few, and reads of records rare beside writes.
final class LateRecords: Sendable {
    struct Late: Sendable {
        /// nil: it was removed.
        var value: [UInt8]?
        var sequence: Int64
        /// The first entry here that wrote it, since it was removed here.
        var created: Int64
        /// Whether it was removed here before: what the file has is another record.
        var isNew: Bool
    }

    /// The records at one moment.
    struct Table: Sendable {
        /// Through which sequence the file's records are; the changes of later entries are here.
        fileprivate(set) var applied: Int64
        /// The last entry that was committed.
        fileprivate(set) var last: Int64
        fileprivate var waiting: [Tail.Waiting] = []

        /// What a key has here, by its bytes: keys that read alike may be others.
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

        /// Those of a component, by the bytes of their keys.
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

    /// A transaction of the tail has committed.
    func note(_ tail: Tail) {
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
    /// What a change makes of a record that was changed here before, or was not.
    fileprivate init(_ change: RecordChange, in entry: Tail.Waiting, after known: Self?) {
        value = change.value
        sequence = entry.sequence
        created = known?.value == nil ? entry.sequence : known?.created ?? entry.sequence
        isNew = change.value == nil || known?.isNew ?? false
    }
}
