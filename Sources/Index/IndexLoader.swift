/// Fills a new index with items from their records, batch by batch.
///
/// Only for an index that is empty before the first batch, and that nothing else uses until ``finish(_:)``.
package struct IndexLoader {
    private let table: RowTable
    private let columns: ColumnTable

    /// Prepares to fill an index.
    package init(_ index: ContentIndex) { (table, columns) = (index.table, index.columns) }

    /// Reserves room for this many items.
    package func reserve(_ count: Int) {
        table.reserve(count)
        // Those of votes and comments are not filled.
        for column in columns.numbered.prefix(columns.fields.count) { column.reserve(count) }
    }

    /// Adds items that the index does not have, in new rows.
    package func append(_ batch: RecordBatch) {
        let first = table.end
        table.append(batch)
        for (column, values) in zip(columns.numbered, batch.columns) {
            column.append(values, from: first, count: batch.items.count)
        }
        // Without ballots and comments, which come later: there is no score.
        for column in columns.derived.dropFirst() {
            guard case .number(let numbers) = column else { continue }
            numbers.appendZeros(batch.items.count)
        }
    }

    /// Takes over the memory that the items of all batches are in.
    package func finish(_ items: PackedItems) { table.adopt(items) }
}

extension IndexColumn {
    fileprivate func reserve(_ rows: Int) {
        switch self {
        case .text(let column): column.reserve(rows)
        case .number(let column): column.reserve(rows)
        }
    }

    fileprivate func append(_ values: RecordBatch.Column, from first: Int, count: Int) {
        switch self {
        case .text(let column): column.append(values, from: first, count: count)
        case .number(let column): column.append(values.numbers)
        }
    }
}
