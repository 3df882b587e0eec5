/// The orders of an index that queries have asked for, each by the number of its field's column.
///
/// An order of a million rows takes a fifth of a second to make, and saves each query a scan of what
/// it matches: it is made once the scans that it would have saved have cost as much.
struct SortedOrders {
    /// What stands for the order of ids alone.
    static let byID = -1

    private var made: [Int: SortedRows] = [:]
    /// What scans have cost by now where there is no order yet, in rows looked at.
    private var spent: [Int: Int] = [:]

    /// Whether there are none.
    var isEmpty: Bool { made.isEmpty }

    /// The order of a column, if it is there.
    subscript(column: Int) -> SortedRows? { made[column] }

    /// Takes a new row into all of them.
    func insert(_ row: Int) {
        for order in made.values { order.insert(row) }
    }

    /// Takes a row that goes out of all of them.
    func remove(_ row: Int) {
        for order in made.values { order.remove(row) }
    }

    /// Forgets all of them.
    mutating func removeAll() { self = SortedOrders() }

    /// The order of a column, for a query that had to look at so many rows without it; nil while it
    /// does not pay.
    mutating func order(
        of column: Int, saving cost: Int, in index: ContentIndex
    ) -> SortedRows? {
        if let order = made[column] { return order }
        spent[column, default: 0] += cost
        guard spent[column, default: 0] > index.count * 4 else { return nil }
        spent[column] = nil
        let byID = made[SortedOrders.byID] ?? SortedRows(index, column: nil, idOrder: nil)
        made[SortedOrders.byID] = byID
        guard column >= 0 else { return byID }
        let order = SortedRows(index, column: index.numbered[column], idOrder: byID)
        made[column] = order
        return order
    }
}
