/// The order of a query: its keys one by one, then the item's id.
///
/// It is total, so that a page can begin behind any row.
struct RowOrder {
    /// The place of a row in the order: its values, and its id.
    ///
    /// It stays valid when the item is removed.
    struct Position {
        var values: [SortValue]
        var id: String
    }

    /// One value of a position.
    enum SortValue {
        case missing
        case number(Double)
        case text(FoldedText)
        /// The place before all texts whose folded form begins with these bytes, in either direction.
        case start([UInt8])
    }

    /// One thing to order by.
    struct Key {
        /// The column, and its number; nil for the id.
        var column: IndexColumn?
        var number: Int
        var descending: Bool
    }

    /// The keys as people write them; cursors name it.
    let sort: [String]

    let keys: [Key]
    let table: RowTable
    /// The orders that are stored.
    let orders: SortedOrders
    /// The number of words of a set that are scanned in a step, of 64 rows each.
    let wordsInStep: Int
    /// ``keys``, as rows are compared by them.
    private let borrowed: ContiguousArray<BorrowedKey>

    /// A key that does not retain its column.
    ///
    /// A comparison would otherwise spend more than half of its time on counting references. ``keys`` and
    /// ``table`` keep alive what this points to.
    private struct BorrowedKey {
        enum Column {
            case id(Unmanaged<RowTable>)
            case number(Unmanaged<NumberColumn>)
            case text(Unmanaged<TextColumn>, Unmanaged<ValueTable>)
        }

        var column: Column
        var descending: Bool

        /// Compares two rows by this key: below 0 if the first one comes first.
        func compare(_ one: Int, _ other: Int) -> Int {
            switch column {
            case .id(let table):
                let ids = table._withUnsafeGuaranteedRef { $0.compareIDs(one, other) }
                return descending ? -ids : ids
            case .number(let column):
                return column._withUnsafeGuaranteedRef { column in
                    RowOrder.compare(column.number(of: one), column.number(of: other), descending) {
                        $0 < $1 ? -1 : $0 > $1 ? 1 : 0
                    }
                }
            case .text(let column, let values):
                let codes = column._withUnsafeGuaranteedRef {
                    ($0.sortCode(of: one), $0.sortCode(of: other))
                }
                return RowOrder.compare(codes.0, codes.1, descending) { one, other in
                    values._withUnsafeGuaranteedRef { $0.compare(one, other) }
                }
            }
        }
    }

    /// The order of these keys; throws for a field that does not exist.
    init(_ sort: [SortKey], in index: ContentIndex) throws(IndexError) {
        var keys: [Key] = []
        for key in sort {
            guard index.isSortable(by: key.field) else {
                throw .sortFieldUnknown(
                    field: key.field, known: (index.columns.asked + ["id"]).sorted())
            }
            keys.append(
                Key(
                    column: index.columns[key.field],
                    number: index.columns.number(of: key.field) ?? SortedOrders.byID,
                    descending: key.descending))
        }
        self.keys = keys
        self.sort = sort.map(\.text)
        orders = index.orders
        wordsInStep = index.wordsInStep
        let table = index.table
        self.table = table
        borrowed = ContiguousArray(
            keys.map { key in
                let column: BorrowedKey.Column =
                    switch key.column {
                    case nil: .id(.passUnretained(table))
                    case .number(let column): .number(.passUnretained(column))
                    case .text(let column):
                        .text(.passUnretained(column), .passUnretained(column.values))
                    }
                return BorrowedKey(column: column, descending: key.descending)
            })
    }

    /// The parts of a row that its place depends on.
    var parts: ChangedParts {
        keys.reduce(.presence) { $0.union($1.number >= 0 ? .column($1.number) : .presence) }
    }

    /// Returns the place of a row.
    func position(of row: Int) -> Position {
        let values = keys.map { key -> SortValue in
            switch key.column {
            case nil: return .text(FoldedText(table.id(of: row)))
            case .number(let column):
                return column.number(of: row).map(SortValue.number) ?? .missing
            case .text(let column):
                guard let code = column.sortCode(of: row) else { return .missing }
                return .text(FoldedText(column.values.text(of: code)))
            }
        }
        return Position(values: values, id: table.id(of: row))
    }

    /// Whether a position has a value of the right type for each key.
    func accepts(_ position: Position) -> Bool {
        position.values.count == keys.count
            && zip(position.values, keys).allSatisfy { value, key in
                switch (value, key.column) {
                case (.missing, _), (.number, .number), (.text, .text), (.text, nil),
                    (.start, .text):
                    true
                default: false
                }
            }
    }

    /// Compares two rows: below 0 if the first one comes first.
    func compare(_ one: Int, _ other: Int) -> Int {
        for place in 0..<borrowed.count {
            let order = borrowed[place].compare(one, other)
            if order != 0 { return order }
        }
        return table.compareIDs(one, other)
    }

    /// Compares a row with a position, by the keys from one on: below 0 if the row comes first.
    func compare(_ row: Int, _ position: Position, from first: Int = 0) -> Int {
        for place in first..<max(first, min(keys.count, position.values.count)) {
            let order = compare(row, position.values[place], by: keys[place])
            if order != 0 { return order }
        }
        return compareID(of: row, position.id)
    }

    /// Compares a row with a position by one key, or by its id if there is no such key: below 0 if the row comes first.
    func compare(_ row: Int, _ position: Position, at place: Int) -> Int {
        guard place < keys.count, place < position.values.count else {
            return compareID(of: row, position.id)
        }
        return compare(row, position.values[place], by: keys[place])
    }

    /// Compares a row with a value of one key: below 0 if the row comes first.
    func compare(_ row: Int, _ value: SortValue, by key: Key) -> Int {
        switch (key.column, value) {
        case (.number(let column), .number(let number)):
            return Self.compare(column.number(of: row), number, key.descending) {
                $0 < $1 ? -1 : $0 > $1 ? 1 : 0
            }
        case (.text(let column), .text(let text)):
            return Self.compare(column.sortCode(of: row), text, key.descending) {
                column.values.compare($0, $1)
            }
        case (.text(let column), .start(let start)):
            guard let code = column.sortCode(of: row) else { return 1 }
            let ascending = column.values.compare(code, toStart: start)
            return ascending == 0 ? 1 : key.descending ? -ascending : ascending
        case (nil, .text(let text)):
            let ids = compareID(of: row, text.text)
            return key.descending ? -ids : ids
        case (.number(let column), _): return column.number(of: row) == nil ? 0 : -1
        case (.text(let column), _): return column.sortCode(of: row) == nil ? 0 : -1
        default: return 0
        }
    }

    /// Compares ids as ``RowTable/compareIDs(_:_:)`` does, so that both agree on every id.
    private func compareID(of row: Int, _ id: String) -> Int {
        let head = UInt64(head: id.utf8)
        let own = table.heads[row]
        if own != head { return own < head ? -1 : 1 }
        return table.compareID(of: row, id)
    }

    /// Compares two optional values: a missing one comes last, in both directions.
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
