import AtriumKit

/// Finds the rows that match a search or a predicate, in small steps, while the index continues to change; the caller
/// has to judge rows that change meanwhile.
///
/// A step scans one run of texts, reads some thousand rows, or combines two sets.
struct RowSearch {
    /// The rows to find.
    enum Wanted: Hashable {
        /// Any searched field's text contains this.
        case search(String)
        case predicate(Predicate)
    }

    /// The rows that match, once ``step(in:keeping:)`` returned false.
    private(set) var rows = Bitset()

    private enum Operation {
        case leaf(Wanted)
        case begin(Group)
        case end
    }

    private enum Group { case and, or, not }

    /// The partial result of a group of a predicate's parts.
    private struct Frame {
        let group: Group
        var rows: Bitset
    }

    /// A leaf that is being found.
    private struct Leaf {
        let key: LeafCache.Leaf?
        let test: RowTest
        /// The position in the log at which it began.
        let start: UInt64
        var rows = Bitset()
        var column = 0
        /// The next run of texts, or the next row.
        var next = 0
    }

    /// The maximum number of rows that a step reads, if a row costs little, and if it costs more.
    static let rowsInStep = 1 << 18
    static let rowsJudgedInStep = 1 << 10

    private var operations: [Operation] = []
    private var place = 0
    private var frames: [Frame] = []
    private var leaf: Leaf?

    init(_ wanted: Wanted) { add(wanted) }

    /// Does one step; `isKept`: the results of scans are kept for other queries; returns false once all rows are
    /// found.
    mutating func step(in index: ContentIndex, keeping isKept: Bool) -> Bool {
        guard place < operations.count else { return false }
        switch operations[place] {
        case .leaf(let wanted):
            if leaf == nil, begin(wanted, in: index, keeping: isKept) { break }
            if scan(index) { return true }
            finishLeaf(in: index, keeping: isKept)
        case .begin(let group):
            frames.append(Frame(group: group, rows: Self.start(of: group, in: index)))
        case .end:
            if let frame = frames.popLast() { combine(frame.rows) }
        }
        place += 1
        return place < operations.count
    }

    private mutating func add(_ wanted: Wanted) {
        guard case .predicate(let predicate) = wanted else {
            return operations.append(.leaf(wanted))
        }
        switch predicate {
        case .and(let parts): add(.and, parts)
        case .or(let parts): add(.or, parts)
        case .not(let part): add(.not, [part])
        default: operations.append(.leaf(wanted))
        }
    }

    private mutating func add(_ group: Group, _ parts: [Predicate]) {
        operations.append(.begin(group))
        for part in parts { add(.predicate(part)) }
        operations.append(.end)
    }

    private static func start(of group: Group, in index: ContentIndex) -> Bitset {
        group == .or ? Bitset() : index.table.occupied
    }

    /// Combines the rows that a part matches with the result.
    private mutating func combine(_ found: Bitset) {
        guard let last = frames.indices.last else {
            rows = found
            return
        }
        switch frames[last].group {
        case .and: frames[last].rows.formIntersection(found)
        case .or: frames[last].rows.formUnion(found)
        case .not: frames[last].rows.subtract(found)
        }
    }
}

// MARK: Leaves

extension RowSearch {
    /// Begins with a leaf; true: it is found already.
    private mutating func begin(
        _ wanted: Wanted, in index: ContentIndex, keeping isKept: Bool
    ) -> Bool {
        let test: RowTest
        var key: LeafCache.Leaf?
        switch wanted {
        case .search(let text):
            test = index.columns.test(search: text)
            if case .contains(_, let needle) = test { key = .search(needle: needle.bytes) }
        case .predicate(let predicate):
            guard !predicate.isListed else {
                var found = Bitset()
                index.finder.rows(matching: predicate).add(to: &found, of: index)
                combine(found)
                return true
            }
            test = index.columns.test(predicate)
            key = Self.key(of: predicate, test)
        }
        if isKept, let key {
            let known = index.finder.leaves.known(key) { row in
                index.table.occupied.contains(row)
                    && test.passes(RowView(index: index, row: row, before: nil))
            }
            if let known {
                combine(known)
                return true
            }
        }
        leaf = Leaf(key: key, test: test, start: index.log.end)
        return false
    }

    /// Returns the key of a leaf's rows in the cache; nil if finding them costs little.
    private static func key(of predicate: Predicate, _ test: RowTest) -> LeafCache.Leaf? {
        switch (predicate, test) {
        case (.contains(let field, _), .contains(_, let needle)),
            (.contains(let field, _), .idContains(let needle)):
            .contains(field: field, needle: needle.bytes)
        case (.range(let field, _, _), .range(_, let range)): .range(field: field, range)
        default: nil
        }
    }

    /// Scans some more; false: the leaf is found.
    private mutating func scan(_ index: ContentIndex) -> Bool {
        guard var leaf else { return false }
        self.leaf = nil
        defer { self.leaf = leaf }
        switch leaf.test {
        case .contains(let columns, let needle):
            guard leaf.column < columns.count else { return false }
            if case .text(let texts) = index.columns.numbered[columns[leaf.column]],
                leaf.next < texts.runCount
            {
                texts.collectRows(containing: needle, inRun: leaf.next, into: &leaf.rows)
                leaf.next += 1
            } else {
                (leaf.column, leaf.next) = (leaf.column + 1, 0)
            }
            return true
        case .range(let column, let range):
            guard case .number(let numbers) = index.columns.numbered[column],
                leaf.next < numbers.rowCount
            else { return false }
            let end = min(leaf.next + Self.rowsInStep, numbers.rowCount)
            leaf.rows.append(numbers.rows(in: range, among: leaf.next..<end), from: leaf.next)
            // What comes behind the last is a change.
            leaf.next = end < numbers.rowCount ? end : .max
            return true
        case .all:
            leaf.rows = index.table.occupied
            return false
        case .none:
            return false
        default:
            guard leaf.next < index.table.end else { return false }
            let end = min(leaf.next + Self.rowsJudgedInStep, index.table.end)
            for row in leaf.next..<end where index.table.occupied.contains(row) {
                let view = RowView(index: index, row: row, before: nil)
                if leaf.test.passes(view) { leaf.rows.insert(row) }
            }
            leaf.next = end
            return true
        }
    }

    private mutating func finishLeaf(in index: ContentIndex, keeping isKept: Bool) {
        guard var leaf else { return }
        self.leaf = nil
        if isKept, let key = leaf.key, let count = index.log.count(since: leaf.start), count <= 64 {
            for change in index.log.changes(since: leaf.start) {
                let row = RowView(index: index, row: Int(change.row), before: nil)
                leaf.rows.set(
                    row.row, to: index.table.occupied.contains(row.row) && leaf.test.passes(row))
            }
            index.finder.leaves.store(leaf.rows, for: key)
        }
        combine(leaf.rows)
    }
}

extension MatchingRows {
    /// Adds the matching rows to a set.
    fileprivate func add(to rows: inout Bitset, of index: ContentIndex) {
        switch self {
        case .all: rows.formUnion(index.table.occupied)
        case .none: break
        case .listed(let postings): postings.formUnion(into: &rows)
        case .bits(let bits): rows.formUnion(bits)
        }
    }
}
