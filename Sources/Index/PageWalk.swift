/// Reads a page from rows that are stored in order, key by key.
///
/// Rows that share a value of one key are sorted by the further keys if they are few. If they are many, the first of
/// them are read in the order of the next key: half of a list may have no votes.
struct PageWalk {
    private let order: RowOrder
    private let rows: Bitset
    /// The number of rows that were read; a comparison counts as ``RowOrder/looksOfComparison``.
    private var looks = 0

    /// Reads pages of the rows of a set.
    init(_ order: RowOrder, _ rows: Bitset) {
        self.order = order
        self.rows = rows
    }

    /// Returns the first rows behind a position, of all rows in the order of the first key, and one more if there is
    /// one; nil: too many rows have to be read.
    mutating func first(
        of sorted: SortedRows, after: RowOrder.Position?, limit: Int
    ) -> [Int]? {
        walk(sorted, by: 0, after: after, limit: limit) { [rows] in rows.contains($0) }
    }

    /// Walks along the order of one key: the keys before it are the same in all rows that are wanted.
    private mutating func walk(
        _ sorted: SortedRows, by depth: Int, after: RowOrder.Position?, limit: Int,
        where isWanted: (Int) -> Bool
    ) -> [Int]? {
        let key = depth < order.keys.count ? order.keys[depth] : nil
        let isSplit = depth + 1 < order.keys.count
        var walk = OrderWalk(sorted, descending: key?.descending ?? false, isSplit: isSplit)
        if let after {
            walk.seek(
                byValue: { order.compare($0, after, at: depth) },
                byAll: { order.compare($0, after, from: depth) })
        }
        var page: [Int] = []
        // Only the first range can hold rows that come before the position.
        var after = after
        while page.count <= limit, let places = walk.next() {
            // Finding a value's rows takes some comparisons.
            looks += RowOrder.looksOfComparison
            let wanted = limit - page.count
            let next =
                isSplit
                ? shared(sorted, places, by: depth, after: after, limit: wanted, where: isWanted)
                : visited(sorted, places, upTo: wanted + 1, where: isWanted)
            guard let next else { return nil }
            page += next
            after = nil
        }
        return page
    }

    /// The first rows among those that share a value of a key, by the further keys.
    private mutating func shared(
        _ sorted: SortedRows, _ places: Range<Int>, by depth: Int, after: RowOrder.Position?,
        limit: Int, where isWanted: (Int) -> Bool
    ) -> [Int]? {
        let most = order.orders.mostSorted
        if places.count > most, let further = nextOrder(depth, saving: places.count) {
            let row = sorted.row(at: places.lowerBound)
            let isThere = after.map { order.compare(row, $0, at: depth) == 0 } ?? false
            return walk(further, by: depth + 1, after: isThere ? after : nil, limit: limit) {
                isWanted($0) && sorted.compareValues($0, row) == 0
            }
        }
        let group = visited(
            sorted, places, upTo: most, behind: after, from: depth, where: isWanted)
        guard let group, group.count < most else { return nil }
        return group.sorted { [order] in order.compare($0, $1) < 0 }
    }

    /// The order of the key behind one; nil where there is none yet.
    private func nextOrder(_ depth: Int, saving cost: Int) -> SortedRows? {
        order.orders.order(of: order.keys[depth + 1].number, saving: cost)
    }

    /// Returns at most `most` of the first rows of some places that are wanted and come behind a position, if there
    /// is one; nil: too many rows were read.
    private mutating func visited(
        _ sorted: SortedRows, _ places: Range<Int>, upTo most: Int,
        behind after: RowOrder.Position? = nil, from depth: Int = 0, where isWanted: (Int) -> Bool
    ) -> [Int]? {
        var (found, looks) = ([Int](), looks)
        let order = order
        _ = sorted.visit(places) { row in
            looks += 1
            guard looks <= RowOrder.mostWalked else { return false }
            guard isWanted(row) else { return true }
            if let after {
                looks += RowOrder.looksOfComparison
                guard order.compare(row, after, from: depth) > 0 else { return true }
            }
            found.append(row)
            return found.count < most
        }
        self.looks = looks
        return looks <= RowOrder.mostWalked ? found : nil
    }
}
