/// The latest changes, row by row, with the values before: live queries read it to keep up.
///
/// It is written while there are readers, and holds a few thousand changes. A reader that is further behind than that
/// runs its query anew.
final class ChangeLog {
    static let length = 4_096

    /// The position at which the next change will be written: it grows by one with each.
    private(set) var end: UInt64 = 0
    /// The number of readers; changes are recorded while there is one.
    private var readers = 0

    private var start: UInt64 = 0
    private var changes: [RowChange] = []
    private var merged: (start: UInt64, end: UInt64, changes: [RowChange])?

    /// Whether there are readers, so that values before changes are kept.
    var isActive: Bool { readers > 0 }

    func addReader() { readers += 1 }

    /// Removes a reader; once there is none, all changes are dropped.
    func removeReader() {
        readers -= 1
        if !isActive { dropAll() }
    }

    /// Writes a change; returns whether all changes but the last few thousand were dropped for it.
    func append(_ change: RowChange) -> Bool {
        guard isActive else {
            dropAll()
            return false
        }
        // The older half goes at once, so that going costs each change the same.
        let isFull = changes.count >= ChangeLog.length * 2
        if isFull {
            changes.removeFirst(ChangeLog.length)
            start += UInt64(ChangeLog.length)
        }
        changes.append(change)
        end += 1
        return isFull
    }

    /// Drops all changes, because there are too many to follow.
    func dropAll() {
        if !changes.isEmpty { changes = [] }
        merged = nil
        end += 1
        start = end
    }

    /// Returns the number of changes since a position; nil if they are no longer in the log.
    func count(since position: UInt64) -> Int? {
        position < start ? nil : Int(end - position)
    }

    /// Returns the changes since a position in their order, at most `limit`; the position must still be in the log.
    func entries(since position: UInt64, atMost limit: Int) -> ArraySlice<RowChange> {
        changes[Int(position - start)...].prefix(limit)
    }

    /// Returns the changes since a position, merged to one for each row: all parts that changed, with the values before
    /// the first change.
    func changes(since position: UInt64) -> [RowChange] {
        if let merged, merged.start == position, merged.end == end { return merged.changes }
        let changes = ChangeLog.merge(changes[Int(position - start)...])
        merged = (position, end, changes)
        return changes
    }

    private static func merge(_ changes: ArraySlice<RowChange>) -> [RowChange] {
        guard changes.count > 1 else { return Array(changes) }
        var places: [Int32: Int] = [:]
        var merged: [RowChange] = []
        for change in changes {
            if let place = places[change.row] {
                merged[place].add(change)
            } else {
                places[change.row] = merged.count
                merged.append(change)
            }
        }
        return merged
    }
}

struct RowChange {
    let row: Int32
    /// The id of the item that it held before; nil when it held none.
    let id: String?
    /// Under which parent that item was.
    let parent: String?
    /// Whether it was among the roots.
    let isRoot: Bool
    /// The columns that changed, with their values before.
    private(set) var before: [(column: Int, value: ColumnValue)] = []
    private(set) var parts: ChangedParts

    /// A change that has touched nothing yet but these parts.
    init(row: Int, id: String?, parent: String?, isRoot: Bool, parts: ChangedParts = []) {
        self.row = Int32(row)
        self.id = id
        self.parent = parent
        self.isRoot = isRoot
        self.parts = parts
    }

    /// Records that a column held something else before.
    mutating func record(column: Int, before value: ColumnValue) {
        before.append((column, value))
        parts.insert(.column(column))
    }

    mutating func record(_ more: ChangedParts) { parts.formUnion(more) }

    /// Returns the value of a column before the change; nil if it did not change.
    @inline(__always)
    func value(of column: Int) -> ColumnValue? {
        for (other, value) in before where other == column { return value }
        return nil
    }

    /// Merges a later change of the same row: the values before stay those before the first change.
    mutating func add(_ later: RowChange) {
        for (column, value) in later.before where self.value(of: column) == nil {
            before.append((column, value))
        }
        parts.formUnion(later.parts)
    }
}

/// The parts of a row that a change affects, or that a query reads.
struct ChangedParts: OptionSet {
    let rawValue: UInt64

    /// Whether there is an item, and which.
    static let presence = ChangedParts(rawValue: 1 << 63)
    /// The item's parent.
    static let parent = ChangedParts(rawValue: 1 << 62)

    /// A column; those behind the sixtieth share one mark.
    static func column(_ number: Int) -> ChangedParts {
        ChangedParts(rawValue: 1 << UInt64(min(number, 61)))
    }
}

/// The value of a column in one row.
enum ColumnValue {
    /// A number, or NaN.
    case number(Double)
    /// The codes of texts.
    case codes(ContiguousArray<Int32>)
}
