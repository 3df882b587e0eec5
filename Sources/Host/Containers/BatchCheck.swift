import AtriumKit
import Index

/// The check of a batch of items against a container's fields and limits.
///
/// A value, so that a large batch is decoded and checked on a thread.
struct BatchCheck: Sendable {
    /// The number of items that are checked on the event loop.
    static let few = 64

    let batch: ItemBatch
    let checker: FieldChecker
    let localTimes: LocalTimes
    let limits: HostLimits
    /// Whether to write the records of a large batch; false for a component in a worker, which sends copies of the items.
    let writesRecords: Bool

    /// Whether the check takes long.
    var isLong: Bool { batch.count > Self.few }

    /// Decodes the items and checks them; returns the items, or the first problem.
    func callAsFunction() -> CheckedBatch {
        do throws(HostError) {
            let drafts = try batch.read()
            try limits.check(batch: drafts.count, of: drafts.reduce(0) { $0 + $1.item.writtenSize })
            var ids = DistinctTexts()
            var result = CheckedBatch()
            result.items.reserveCapacity(drafts.count)
            for draft in drafts {
                let item = localTimes.complete(draft.item)
                try check(item, &ids)
                result.items.append(item)
            }
            if batch.isConditional { result.conditions = drafts.filter { $0.ifRevision != nil } }
            if isLong, writesRecords { result.written = WrittenFields(ahead: result.items) }
            return result
        } catch {
            return CheckedBatch(problem: error)
        }
    }

    private func check(_ item: Item, _ ids: inout DistinctTexts) throws(HostError) {
        if let problem = checker.check(item) { throw HostError(problem) }
        if item.parent == item.id {
            throw .itemInvalid(item: item.id, reason: "It can't be its own parent.")
        }
        guard ids.insert(item.id) else {
            throw .itemInvalid(
                item: item.id, reason: "The id occurs twice in the batch.")
        }
    }
}

/// The result of a check.
struct CheckedBatch: Sendable {
    /// The items; times without an offset were completed with their fields' time zones.
    var items: [Item] = []
    /// The drafts that expect a revision.
    var conditions: [ItemDraft] = []
    /// The records of the items of a large batch; otherwise empty.
    var written = WrittenFields()
    /// The first problem that was found; nil: the items may be put.
    var problem: HostError?
}

extension Item {
    /// Roughly the bytes that the item adds to an entry: its record, and its id in the notification.
    fileprivate var writtenSize: Int { roughSize + id.utf8.count + 24 }
}

/// Texts of which none stands twice.
///
/// Those that come in their order, as the ids of most imports do, are compared alone with the one before.
private struct DistinctTexts {
    private var ordered: [String] = []
    /// All of them, once one came before another.
    private var all: Set<String>?

    /// Adds a text; false if it was there.
    mutating func insert(_ text: String) -> Bool {
        if all == nil {
            if ordered.last.map({ $0 < text }) ?? true {
                ordered.append(text)
                return true
            }
            all = Set(ordered)
            ordered = []
        }
        return all?.insert(text).inserted ?? true
    }
}
