import AtriumKit

/// Sets the values of rows in their columns, keeps the sorted orders in step, and notes the values before.
final class ColumnWriter {
    private let columns: [IndexColumn]
    /// The number of columns of declared fields; those of the derived values follow.
    private let declared: Int
    private let orders: SortedOrders
    private let log: ChangeLog

    init(_ columns: ColumnTable, _ orders: SortedOrders, _ log: ChangeLog) {
        self.columns = columns.numbered
        declared = columns.fields.count
        self.orders = orders
        self.log = log
    }

    /// Sets the values of a row's declared fields.
    func set(_ values: [Value?], row: Int, noting change: inout RowChange) {
        for column in values.indices {
            set(values[column], in: column, row: row, noting: &change)
        }
    }

    /// Sets the values of a row that are derived from votes and comments.
    func set(
        _ values: (score: Double?, count: Double, comments: Double), row: Int,
        noting change: inout RowChange
    ) {
        set(number: values.score, in: declared, row: row, noting: &change)
        set(number: values.count, in: declared + 1, row: row, noting: &change)
        set(number: values.comments, in: declared + 2, row: row, noting: &change)
    }

    /// Sets the number of comments on a row's item.
    func set(comments: Int, row: Int, noting change: inout RowChange) {
        set(number: Double(comments), in: declared + 2, row: row, noting: &change)
    }

    /// Removes all values of a row.
    func clear(row: Int, noting change: inout RowChange) {
        for column in 0..<declared { set(nil, in: column, row: row, noting: &change) }
        for column in declared..<columns.count {
            set(number: nil, in: column, row: row, noting: &change)
        }
    }

    /// Releases texts that no row has any more; they are kept while a live query may still read them.
    func releaseTexts() {
        guard !log.isActive else { return }
        for column in columns { column.release() }
    }

    /// Drops the texts that no row had already at the last call.
    func ageTexts() {
        for column in columns { column.age() }
    }

    private func set(_ value: Value?, in column: Int, row: Int, noting change: inout RowChange) {
        let isFollowed = isFollowed(change)
        if isFollowed {
            guard !columns[column].holds(value, row: row) else { return }
            prepare(column, row: row, noting: &change)
        }
        columns[column].set(value, row: row)
        if isFollowed, !change.parts.contains(.presence) { orders.insert(row, into: column) }
    }

    private func set(number: Double?, in column: Int, row: Int, noting change: inout RowChange) {
        guard case .number(let numbers) = columns[column] else { return }
        let isFollowed = isFollowed(change)
        if isFollowed {
            guard !NumberColumn.isSame(numbers.number(of: row), number) else { return }
            prepare(column, row: row, noting: &change)
        }
        numbers.set(number, row: row)
        if isFollowed, !change.parts.contains(.presence) { orders.insert(row, into: column) }
    }

    /// Whether the values of a row before a change are needed; for a row that is added or removed, only live queries
    /// need them.
    private func isFollowed(_ change: RowChange) -> Bool {
        log.isActive || !orders.isEmpty && !change.parts.contains(.presence)
    }

    private func prepare(_ column: Int, row: Int, noting change: inout RowChange) {
        if log.isActive {
            change.record(column: column, before: columns[column].value(of: row))
        }
        if !change.parts.contains(.presence) { orders.remove(row, from: column) }
    }
}
