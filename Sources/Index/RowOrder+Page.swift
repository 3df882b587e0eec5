/// The first rows of a set in an order, read from rows that are stored in that order if that costs less than reading
/// all of the set.
extension RowOrder {
    /// A page's rows in order, and whether no others come behind them.
    typealias Page = (rows: [Int], isLast: Bool)

    /// The cost of a comparison of rows, in keys that are read: texts may be anywhere in memory.
    static let looksOfComparison = 64
    /// The maximum number of rows that are walked over: a thousand that match may lie behind a million others.
    static let mostWalked = 1 << 18

    /// Returns the first rows of a set in order, behind a position if there is one.
    ///
    /// - Parameters:
    ///   - rows: the set.
    ///   - total: the number of its rows.
    ///   - after: the position; nil: from the start.
    ///   - limit: the maximum number of rows.
    ///   - looks: the number of rows that may be read; reduced by the number that were read.
    /// - Returns: the page; nil: it costs more.
    func page(
        of rows: Bitset, total: Int, after: Position?, limit: Int, within looks: inout Int
    ) -> Page? {
        guard limit > 0 else { return ([], true) }
        if let page = walked(rows, total: total, after: after, limit: limit) { return page }
        looks -= total + rows.words.count
        var best = bestRows(limit: min(limit, table.count))
        for start in stride(from: 0, to: rows.words.count, by: wordsInStep) {
            guard best.comparisons * Self.looksOfComparison <= looks else { return nil }
            let end = min(start + wordsInStep, rows.words.count)
            scan(rows, words: start..<end, after: after, into: &best)
        }
        looks -= best.comparisons * Self.looksOfComparison
        return best.finish()
    }

    /// The page, read off rows in order; nil: there are none in this order, or it is more work so.
    func walked(_ rows: Bitset, total: Int, after: Position?, limit: Int) -> Page? {
        // Of rows in order, so many must be looked at until there are enough; a look at one in order
        // costs several times one at the next in a set.
        let walk = (limit + 1) * table.count / max(total, 1) * 4
        let scan = total + rows.words.count / 4
        guard walk < scan, limit < total,
            let order = orders.order(
                of: keys.first?.number ?? SortedOrders.byID, saving: scan - walk)
        else { return nil }
        var walking = PageWalk(self, rows)
        guard let page = walking.first(of: order, after: after, limit: limit) else { return nil }
        return (Array(page.prefix(limit)), page.count <= limit)
    }

    /// Returns a collector of the first rows.
    func bestRows(limit: Int) -> BestRows {
        BestRows(limit: limit) { compare($0, $1) < 0 }
    }

    /// Searches some words of a set for its first rows.
    func scan(_ rows: Bitset, words: Range<Int>, after: Position?, into best: inout BestRows) {
        let isAhead = { (row: Int) in
            after.map { compare(row, $0) > 0 } ?? true
        }
        let idHeads = table.heads
        guard let key = keys.first else {
            return best.collect(rows, words: words, key: { idHeads[$0] }, where: isAhead)
        }
        let flip: UInt64 = key.descending ? ~0 : 0
        switch key.column {
        case nil: best.collect(rows, words: words, key: { idHeads[$0] ^ flip }, where: isAhead)
        case .number(let column):
            column.withNumbers { numbers in
                best.collect(
                    rows, words: words, key: { Self.head(numbers, $0, flip) }, where: isAhead)
            }
        case .text(let column):
            // Copies, so that the loop does not ask for exclusive access at each row.
            let (heads, codes) = (column.values.heads, column.first)
            best.collect(
                rows, words: words, key: { Self.head(heads, codes, $0, flip) }, where: isAhead)
        }
    }

    /// Returns the key by which ``BestRows`` compares a row.
    func head(of row: Int) -> UInt64 {
        guard let key = keys.first else { return table.heads[row] }
        let flip: UInt64 = key.descending ? ~0 : 0
        switch key.column {
        case nil: return table.heads[row] ^ flip
        case .number(let column):
            return column.withNumbers { Self.head($0, row, flip) }
        case .text(let column): return Self.head(column.values.heads, column.first, row, flip)
        }
    }

    /// The number of a row as an unsigned one that orders as they do; the greatest where it has
    /// none.
    @inline(__always)
    private static func head(
        _ numbers: UnsafeBufferPointer<Double>, _ row: Int, _ flip: UInt64
    ) -> UInt64 {
        guard row < numbers.count, !numbers[row].isNaN else { return .max }
        return numbers[row].orderedBits ^ flip
    }

    /// Returns the first bytes of a row's text, as a number that is compared like one.
    @inline(__always)
    private static func head(
        _ heads: ContiguousArray<UInt64>, _ codes: ContiguousArray<Int32>, _ row: Int,
        _ flip: UInt64
    ) -> UInt64 {
        guard row < codes.count, codes[row] >= 0 else { return .max }
        return heads[Int(codes[row])] ^ flip
    }
}
