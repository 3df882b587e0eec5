/// All rows of an index in the order of one field, then of their ids: sorted access without sorting.
///
/// The order is ascending, rows without a value last; descending is read from behind. It is kept in blocks of a few
/// hundred rows, so that moving a row costs two searches and two small shifts. A row is removed before its value
/// changes, and inserted after. If many rows change at once, they are only recorded (``Repair``): the order is
/// incomplete until ``mend()`` has inserted them step by step.
final class SortedRows {
    private static let blockLength = 512
    /// The maximum number of rows that are inserted in a step.
    private static let placedInStep = 128

    private var blocks: [ContiguousArray<Int32>] = []
    /// The number of rows before each block, and in all; correct while ``isCounted``.
    private var counted: [Int] = [0]
    private var isCounted = false

    private let table: RowTable
    /// The field's values; nil for the order of ids alone.
    private let column: IndexColumn?

    /// The changes that are only recorded; nil: there are none.
    private var repair: Repair?

    /// An order that no row is in yet.
    init(emptyOf table: RowTable, column: IndexColumn?) {
        self.table = table
        self.column = column
    }

    /// Sorts all rows of the table.
    ///
    /// With the order of ids at hand, making any other order only moves numbers. Without a column, it makes the order
    /// of ids.
    init(_ table: RowTable, column: IndexColumn?, idOrder: SortedRows?) {
        self.table = table
        self.column = column
        var rows: ContiguousArray<Int32>
        if let column, let idOrder {
            rows = RadixSort.sorted(idOrder.rows(0..<idOrder.count), by: column.sortKeys())
        } else {
            rows = table.rowsByID()
        }
        for start in stride(from: 0, to: rows.count, by: SortedRows.blockLength) {
            let end = min(start + SortedRows.blockLength, rows.count)
            blocks.append(ContiguousArray(rows[start..<end]))
        }
    }

    /// The number of rows.
    var count: Int {
        count(upTo: blocks.count)
    }

    func hasValue(_ row: Int) -> Bool { column?.hasValue(row) ?? true }

    /// Inserts a row by its present value, or records that it has to be.
    func insert(_ row: Int, isOneOfMany: Bool = false) {
        guard isOneOfMany || repair != nil else { return place(row) }
        repair = repair ?? Repair()
        repair?.markMissing(row)
    }

    /// Inserts a row; a row that is in it already stays.
    private func place(_ row: Int) {
        isCounted = false
        guard !blocks.isEmpty else { return blocks.append([Int32(row)]) }
        let (block, offset) = search { compare($0, row) < 0 }
        if block < blocks.count, blocks[block][offset] == Int32(row) { return }
        let target = block == blocks.count ? block - 1 : block
        blocks[target].insert(Int32(row), at: block == target ? offset : blocks[target].count)
        guard blocks[target].count > SortedRows.blockLength * 2 else { return }
        blocks.insert(ContiguousArray(blocks[target][SortedRows.blockLength...]), at: target + 1)
        blocks[target].removeLast(blocks[target].count - SortedRows.blockLength)
    }

    /// Removes a row, whose value must still be the one with which it was inserted, or records that it has to be.
    func remove(_ row: Int, isOneOfMany: Bool = false) {
        if repair?.forget(missing: row) == true { return }
        if isOneOfMany || repair?.isSwept == false {
            repair = repair ?? Repair()
            repair?.markStale(row)
            return
        }
        isCounted = false
        let (block, offset) = search { compare($0, row) < 0 }
        guard block < blocks.count, blocks[block][offset] == Int32(row) else { return }
        blocks[block].remove(at: offset)
        if blocks[block].isEmpty { blocks.remove(at: block) }
    }

    /// Whether all rows are in it, each in its place.
    var isWhole: Bool { repair == nil }

    /// Removes or inserts some of the recorded rows.
    func mend() {
        guard var repair else { return }
        self.repair = nil
        isCounted = false
        if repair.isSwept {
            for _ in 0..<Self.placedInStep {
                guard let row = repair.nextMissing() else { return }
                place(row)
            }
        } else {
            repair.sweep(&blocks)
        }
        self.repair = repair
    }

    /// The row at a place of the order.
    func row(at place: Int) -> Int {
        let (block, offset) = position(of: place)
        return Int(blocks[block][offset])
    }

    /// The first place whose row is not before something; `isBefore` is true up to there.
    func firstPlace(where isBefore: (Int) -> Bool) -> Int {
        let (block, offset) = search(isBefore)
        return count(upTo: block) + offset
    }

    /// Calls the body with the row at each of some places, in order, until the body returns false; returns whether it
    /// came to the end.
    @inline(__always)
    func visit(_ places: Range<Int>, _ body: (Int) -> Bool) -> Bool {
        guard !places.isEmpty else { return true }
        var (block, offset) = position(of: places.lowerBound)
        var remaining = places.count
        while remaining > 0 {
            let rows = blocks[block]
            for row in rows[offset..<min(rows.count, offset + remaining)] {
                guard body(Int(row)) else { return false }
            }
            remaining -= min(rows.count - offset, remaining)
            (block, offset) = (block + 1, 0)
        }
        return true
    }

    func rows(_ places: Range<Int>) -> ContiguousArray<Int32> {
        var rows: ContiguousArray<Int32> = []
        rows.reserveCapacity(places.count)
        _ = visit(places) { row in
            rows.append(Int32(row))
            return true
        }
        return rows
    }

    /// Compares the values of two rows in the field: below 0 if the first one's is less; rows without a value come
    /// last.
    func compareValues(_ one: Int, _ other: Int) -> Int {
        column.map { $0.compare(one, other) } ?? table.compareIDs(one, other)
    }

    /// Whether one row precedes another one.
    func isBefore(_ one: Int, _ other: Int) -> Bool { compare(one, other) < 0 }

    private func compare(_ one: Int, _ other: Int) -> Int {
        let order = column.map { $0.compare(one, other) } ?? 0
        return order != 0 ? order : table.compareIDs(one, other)
    }

    /// The first block whose last row is not before, and the first such row in it.
    private func search(_ isBefore: (Int) -> Bool) -> (block: Int, offset: Int) {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(Int(blocks[middle][blocks[middle].count - 1])) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < blocks.count else { return (low, 0) }
        var (first, last) = (0, blocks[low].count - 1)
        while first < last {
            let middle = (first + last) / 2
            if isBefore(Int(blocks[low][middle])) { first = middle + 1 } else { last = middle }
        }
        return (low, first)
    }

    private func position(of place: Int) -> (block: Int, offset: Int) {
        _ = count(upTo: 0)
        var (low, high) = (0, blocks.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if counted[middle] <= place { low = middle } else { high = middle - 1 }
        }
        return (low, place - counted[low])
    }

    private func count(upTo block: Int) -> Int {
        if !isCounted {
            counted = [0]
            for rows in blocks { counted.append(counted[counted.count - 1] + rows.count) }
            isCounted = true
        }
        return counted[block]
    }
}

extension SortedRows {
    /// The rows of a change of many: those that are still at their former places, and those that have to be inserted by
    /// their present values.
    ///
    /// They are found without comparisons, which rows out of place would mislead.
    private struct Repair {
        private static let blocksInStep = 16

        private var stale = Bitset()
        /// Whether all blocks are without those that are stale.
        private(set) var isSwept = true
        private var nextBlock = 0
        /// Whether more became stale behind the next block.
        private var isToRepeat = false

        private var missing: ContiguousArray<Int32> = []
        /// The rows of ``missing``, as a set.
        private var isMissing = Bitset()

        mutating func markStale(_ row: Int) {
            stale.insert(row)
            isSwept = false
            isToRepeat = isToRepeat || nextBlock > 0
        }

        mutating func markMissing(_ row: Int) {
            guard !isMissing.contains(row) else { return }
            isMissing.insert(row)
            missing.append(Int32(row))
        }

        /// A row that is not in the order yet, unless it is stale, is not to be taken in; returns whether it was.
        mutating func forget(missing row: Int) -> Bool {
            guard isMissing.contains(row) else { return false }
            isMissing.remove(row)
            return true
        }

        /// Returns a row that has to be inserted; nil: there is none.
        mutating func nextMissing() -> Int? {
            while let row = missing.popLast() {
                if forget(missing: Int(row)) { return Int(row) }
            }
            return nil
        }

        /// Removes stale rows from some blocks.
        mutating func sweep(_ blocks: inout [ContiguousArray<Int32>]) {
            for _ in 0..<Self.blocksInStep where nextBlock < blocks.count {
                blocks[nextBlock].removeAll { stale.contains(Int($0)) }
                if blocks[nextBlock].isEmpty {
                    blocks.remove(at: nextBlock)
                } else {
                    nextBlock += 1
                }
            }
            guard nextBlock == blocks.count else { return }
            nextBlock = 0
            if isToRepeat {
                isToRepeat = false
            } else {
                stale = Bitset()
                isSwept = true
            }
        }
    }
}
