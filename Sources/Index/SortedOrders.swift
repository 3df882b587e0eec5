/// The sorted orders of an index's rows, each by the number of its field's column.
///
/// An order saves each query a scan of the rows that match. It is made once the scans that it would have saved have
/// cost as much as making it. An order of many rows is made step by step, while rows come, go and change: changed rows
/// are inserted where they belong, and each step inserts some of the others.
package final class SortedOrders {
    /// The number that stands for the order by id alone.
    static let byID = -1

    /// The maximum number of rows of which an order is made at once: texts that begin alike are compared byte by byte.
    var mostAtOnce = 4_096
    /// The maximum number of rows that may change at once to be inserted at once; more are inserted step by step.
    var mostMoved = 64
    /// The maximum number of rows with the same value of a key that are sorted by the further keys for one page.
    var mostSorted = 1_024
    /// Whether more rows than ``mostMoved`` are being changed at once.
    private var isOneOfMany = false
    /// Whether a caller is calling ``grow(rows:)`` repeatedly.
    private var isClaimed = false

    private let table: RowTable
    private let columns: [IndexColumn]
    private var made: [Int: SortedRows] = [:]
    /// The first row that no step has inserted, for each order that is being made.
    private var growing: [Int: Int] = [:]
    /// The cost of scans so far for each column without an order, in rows read.
    private var spent: [Int: Int] = [:]

    init(_ table: RowTable, _ columns: [IndexColumn]) {
        (self.table, self.columns) = (table, columns)
    }

    /// Whether there are none.
    var isEmpty: Bool { made.isEmpty }

    /// The numbers of the columns that there are orders of.
    var numbers: [Int] { made.keys.sorted() }

    /// All of them.
    var parts: [AnyObject] { Array(made.values) }

    /// The order of a column that holds all rows; nil: there is none, or it is being made.
    func finished(_ column: Int) -> SortedRows? {
        growing[column] == nil ? made[column].flatMap { $0.isWhole ? $0 : nil } : nil
    }

    /// Announces how many rows are about to change at once; 0: the change is over.
    func willChange(_ rows: Int) { isOneOfMany = rows > mostMoved }

    /// Inserts a new row into all of them.
    func insert(_ row: Int) {
        for order in made.values { order.insert(row, isOneOfMany: isOneOfMany) }
    }

    /// Removes a row from all of them.
    func remove(_ row: Int) {
        for order in made.values { order.remove(row, isOneOfMany: isOneOfMany) }
    }

    /// Inserts a row whose value has changed into a column's order.
    func insert(_ row: Int, into column: Int) {
        made[column]?.insert(row, isOneOfMany: isOneOfMany)
    }

    /// Removes a row whose value is about to change from a column's order.
    func remove(_ row: Int, from column: Int) {
        made[column]?.remove(row, isOneOfMany: isOneOfMany)
    }

    /// Claims the making of the orders that queries need; returns false if there are none to make, or another caller
    /// makes them.
    ///
    /// A caller that gets true calls ``grow(rows:)`` until nothing is left, then ``release()``.
    package func claim() -> Bool {
        guard isGrowing, !isClaimed else { return false }
        isClaimed = true
        return true
    }

    /// Ends the claim to make orders.
    package func release() { isClaimed = false }

    /// Whether there is an order to be made by ``grow(rows:)``.
    var isGrowing: Bool { !growing.isEmpty || made.values.contains { !$0.isWhole } }

    /// Inserts some more rows into an order that is being made, or puts some rows in their places; returns false if
    /// there is none to work on.
    package func grow(rows: Int = 128) -> Bool {
        if let order = made.values.first(where: { !$0.isWhole }) {
            order.mend()
            return true
        }
        guard let (column, next) = growing.first, let order = made[column] else { return false }
        let end = min(next + rows, table.end)
        for row in next..<end where table.occupied.contains(row) { order.insert(row) }
        growing[column] = end < table.end ? end : nil
        return true
    }

    /// Returns the order of a column, for a query that had to read this many rows without it; nil while making it does
    /// not pay.
    func order(of column: Int, saving cost: Int) -> SortedRows? {
        if made[column] != nil { return finished(column) }
        spent[column, default: 0] += cost
        guard spent[column, default: 0] > table.count * 4 else { return nil }
        spent[column] = nil
        guard table.count <= mostAtOnce else {
            made[column] = SortedRows(
                emptyOf: table, column: column >= 0 ? columns[column] : nil)
            growing[column] = 0
            return nil
        }
        let byID = finished(SortedOrders.byID) ?? SortedRows(table, column: nil, idOrder: nil)
        made[SortedOrders.byID] = byID
        growing[SortedOrders.byID] = nil
        guard column >= 0 else { return byID }
        let order = SortedRows(table, column: columns[column], idOrder: byID)
        made[column] = order
        return order
    }
}
