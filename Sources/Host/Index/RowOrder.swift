import AtriumKit

/// The order that a query asks for: its keys one by one, then the item's id.
///
/// It is total, so that a page can go on behind any row.
struct RowOrder {
    /// Where a row stands in the order: its values, and its id.
    ///
    /// It outlives the item.
    struct Position {
        var values: [SortValue]
        var id: String
    }

    /// One value of a position.
    enum SortValue {
        case missing
        case number(Double)
        case text(FoldedText)
    }

    private struct Key {
        var column: IndexColumn?
        var descending: Bool
    }

    /// The keys as people write them; cursors name it.
    let sort: [String]

    private let keys: [Key]
    private let table: RowTable

    /// The order of these keys.
    ///
    /// - Throws: ``IndexError/sortFieldUnknown(field:known:)``.
    init(_ sort: [SortKey], in index: ContentIndex) throws(IndexError) {
        var keys: [Key] = []
        for key in sort {
            guard index.columns[key.field] != nil || key.field == "id" else {
                throw .sortFieldUnknown(
                    field: key.field, known: (index.columns.keys + ["id"]).sorted())
            }
            keys.append(Key(column: index.columns[key.field], descending: key.descending))
        }
        self.keys = keys
        self.sort = sort.map(\.text)
        table = index.table
    }

    /// The first rows in order, behind a position if there is one, and whether they are the last.
    func page(of rows: Bitset, after: Position?, limit: Int) -> (rows: [Int], isLast: Bool) {
        guard limit > 0 else { return ([], true) }
        var best = BestRows(limit: min(limit, table.count)) { compare($0, $1) < 0 }
        let isAhead = { (row: Int) in
            after.map { compare(row, $0) > 0 } ?? true
        }
        guard let key = keys.first else {
            best.collect(rows, key: { table.heads[$0] }, where: isAhead)
            return best.finish()
        }
        let flip: UInt64 = key.descending ? ~0 : 0
        switch key.column {
        case nil: best.collect(rows, key: { table.heads[$0] ^ flip }, where: isAhead)
        case .number(let column):
            column.numbers.withUnsafeBufferPointer { numbers in
                best.collect(rows, key: { Self.head(numbers, $0, flip) }, where: isAhead)
            }
        case .text(let column):
            // Copies, so that the loop does not ask for exclusive access at each row.
            let (heads, codes) = (column.values.heads, column.first)
            best.collect(
                rows,
                key: { row in
                    guard row < codes.count, codes[row] >= 0 else { return .max }
                    return heads[Int(codes[row])] ^ flip
                }, where: isAhead)
        }
        return best.finish()
    }

    /// Where a row stands.
    func position(of row: Int) -> Position {
        let values = keys.map { key -> SortValue in
            switch key.column {
            case nil: return .text(FoldedText(table[row].id))
            case .number(let column):
                return column.number(of: row).map(SortValue.number) ?? .missing
            case .text(let column):
                guard let code = column.sortCode(of: row) else { return .missing }
                return .text(FoldedText(column.values.text(of: code)))
            }
        }
        return Position(values: values, id: table[row].id)
    }

    /// Whether a position has a value of the right type for each key.
    func accepts(_ position: Position) -> Bool {
        position.values.count == keys.count
            && zip(position.values, keys).allSatisfy { value, key in
                switch (value, key.column) {
                case (.missing, _), (.number, .number), (.text, .text), (.text, nil): true
                default: false
                }
            }
    }

    /// The number of a row as an unsigned one that orders as they do; the greatest where it has
    /// none.
    @inline(__always)
    private static func head(
        _ numbers: UnsafeBufferPointer<Double>, _ row: Int, _ flip: UInt64
    ) -> UInt64 {
        guard row < numbers.count, !numbers[row].isNaN else { return .max }
        let bits = numbers[row].bitPattern
        return (bits >> 63 == 0 ? bits | 1 << 63 : ~bits) ^ flip
    }

    private func compare(_ one: Int, _ other: Int) -> Int {
        for key in keys {
            let order: Int
            switch key.column {
            case nil:
                let ids = table.compareIDs(one, other)
                order = key.descending ? -ids : ids
            case .number(let column):
                order = Self.compare(
                    column.number(of: one), column.number(of: other), key.descending
                ) { $0 < $1 ? -1 : $0 > $1 ? 1 : 0 }
            case .text(let column):
                order = Self.compare(
                    column.sortCode(of: one), column.sortCode(of: other), key.descending,
                    by: column.values.compare)
            }
            if order != 0 { return order }
        }
        return table.compareIDs(one, other)
    }

    private func compare(_ row: Int, _ position: Position) -> Int {
        for (key, value) in zip(keys, position.values) {
            let order: Int
            switch (key.column, value) {
            case (.number(let column), .number(let number)):
                order = Self.compare(column.number(of: row), number, key.descending) {
                    $0 < $1 ? -1 : $0 > $1 ? 1 : 0
                }
            case (.text(let column), .text(let text)):
                order = Self.compare(column.sortCode(of: row), text, key.descending) {
                    column.values.compare($0, $1)
                }
            case (nil, .text(let text)):
                let ids = compareID(of: row, text.text)
                order = key.descending ? -ids : ids
            case (.number(let column), _): order = column.number(of: row) == nil ? 0 : -1
            case (.text(let column), _): order = column.sortCode(of: row) == nil ? 0 : -1
            default: order = 0
            }
            if order != 0 { return order }
        }
        return compareID(of: row, position.id)
    }

    /// As ``RowTable/compareIDs(_:_:)``, so that both agree on every id.
    private func compareID(of row: Int, _ id: String) -> Int {
        let head = UInt64(head: id.utf8)
        if table.heads[row] != head { return table.heads[row] < head ? -1 : 1 }
        return table[row].id.compare(id)
    }

    /// Nothing comes behind anything, in both directions.
    @inline(__always)
    private static func compare<One, Other>(
        _ one: One?, _ other: Other?, _ descending: Bool, by order: (One, Other) -> Int
    ) -> Int {
        switch (one, other) {
        case (nil, nil): return 0
        case (nil, _): return 1
        case (_, nil): return -1
        case (let one?, let other?):
            let ascending = order(one, other)
            return descending ? -ascending : ascending
        }
    }
}
