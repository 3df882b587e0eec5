package import AtriumKit

/// One field's values, in the form that its type calls for.
enum IndexColumn {
    /// Texts, by code.
    case text(TextColumn)
    case number(NumberColumn)

    init(type: Field.FieldType) {
        switch type {
        // A picture has no place in an order: its column stays empty, and nobody finds it by the field's name.
        case .number, .integer, .boolean, .duration, .time, .date, .image:
            self = .number(NumberColumn(type: type))
        case .text, .keywords, .url, .markdown: self = .text(TextColumn())
        // A type of a newer kit is at least listed and found by its texts.
        @unknown default: self = .text(TextColumn())
        }
    }

    func set(_ value: Value?, row: Int) {
        switch self {
        case .text(let column): column.set(value, row: row)
        case .number(let column): column.set(value, row: row)
        }
    }

    /// Whether a row's value is this one already.
    func holds(_ value: Value?, row: Int) -> Bool {
        switch self {
        case .text(let column): column.holds(value, row: row)
        case .number(let column):
            NumberColumn.isSame(
                column.number(of: row), value.flatMap { column.number($0) })
        }
    }

    func value(of row: Int) -> ColumnValue {
        switch self {
        case .text(let column): .codes(column.codes(of: row))
        case .number(let column): .number(column.number(of: row) ?? .nan)
        }
    }

    func hasValue(_ row: Int) -> Bool {
        switch self {
        case .text(let column): column.sortCode(of: row) != nil
        case .number(let column): column.number(of: row) != nil
        }
    }

    /// Compares the values of two rows: below 0 if the first one's comes first; missing values come last.
    func compare(_ one: Int, _ other: Int) -> Int {
        switch self {
        case .text(let column):
            switch (column.sortCode(of: one), column.sortCode(of: other)) {
            case (nil, nil): 0
            case (nil, _): 1
            case (_, nil): -1
            case (let one?, let other?): column.values.compare(one, other)
            }
        case .number(let column):
            switch (column.number(of: one), column.number(of: other)) {
            case (nil, nil): 0
            case (nil, _): 1
            case (_, nil): -1
            case (let one?, let other?): one < other ? -1 : one > other ? 1 : 0
            }
        }
    }

    /// Returns a number for each row that orders as the values do; the greatest number for a row without a value.
    func sortKeys() -> ContiguousArray<UInt64> {
        switch self {
        case .text(let column):
            var ranks = ContiguousArray<UInt64>(repeating: .max, count: column.values.end)
            for (rank, code) in column.values.sortedCodes.enumerated() {
                ranks[code] = UInt64(rank)
            }
            return ContiguousArray(column.first.lazy.map { $0 < 0 ? .max : ranks[Int($0)] })
        case .number(let column):
            return ContiguousArray(column.numbers.lazy.map { $0.isNaN ? .max : $0.orderedBits })
        }
    }

    /// Releases the texts that no row has, once no query needs the values before a change.
    func release() {
        if case .text(let column) = self { column.release() }
    }

    /// Drops the texts that no row had already at the last call.
    func age() {
        if case .text(let column) = self { column.age() }
    }

    /// Grows with each distinct value that comes or goes, once these are listed.
    var version: UInt64 {
        switch self {
        case .text(let column): return column.values.version
        case .number(let column):
            if !isLongToList { column.startListing() }
            return column.version
        }
    }

    /// The number of distinct values.
    var valueCount: Int {
        switch self {
        case .text(let column): column.values.count
        case .number(let column): column.valueCount
        }
    }

    /// Returns a version, which changes when ``distinctValues(atMost:)`` do.
    ///
    /// If there are more values than the limit, it changes only after changes of an eighth as many rows as there are
    /// values.
    func version(atMost limit: Int) -> UInt64 {
        guard !isLongToList else { return 1 << 41 }
        return valueCount > limit ? cutVersion : version
    }

    /// Returns the distinct values, sorted, up to the limit.
    ///
    /// If there are more, it returns those that most rows have, as of the last change of ``version(atMost:)`` or the
    /// last search by ``search(atMost:)``.
    func distinctValues(atMost limit: Int) -> [Value] {
        guard valueCount > limit else {
            return switch self {
            case .text(let column):
                column.values.sortedCodes.map { .text(column.values.text(of: $0)) }
            case .number(let column): column.sortedNumbers.map(column.value)
            }
        }
        let isFound =
            valueCount > Self.few
            ? cut.values(atMost: limit) != nil : cut.isRecent(cutVersion, atMost: limit)
        if !isFound {
            let search = ValueSearch(self, atMost: limit)
            while search.step() {}
        }
        return cut.values(atMost: limit) ?? []
    }

    /// Values in the order of ``distinctValues(atMost:)``.
    func sorted(_ values: [Value]) -> [Value] {
        switch self {
        case .number(let column):
            let keyed = values.map { (key: column.number($0) ?? .infinity, value: $0) }
            return keyed.sorted { $0.key < $1.key }.map(\.value)
        case .text:
            let keyed = values.map { value in
                let text = value.text ?? ""
                return (key: Folding.fold(text), text: Array(text.utf8), value: value)
            }
            return keyed.sorted { one, other in
                one.key == other.key
                    ? one.text.lexicographicallyPrecedes(other.text)
                    : one.key.lexicographicallyPrecedes(other.key)
            }.map(\.value)
        }
    }

    /// Returns a search that finds ``distinctValues(atMost:)`` step by step, if that takes long; nil: they are known.
    func search(atMost limit: Int) -> ValueSearch? {
        guard
            isLongToList
                || valueCount > max(limit, Self.few) && !cut.isRecent(cutVersion, atMost: limit)
        else { return nil }
        return ValueSearch(self, atMost: limit)
    }

    /// The maximum number of values, or rows, that are read in one turn.
    private static let few = 4 * ValueSearch.few

    /// Whether the distinct values have to be found first, by reading many rows.
    private var isLongToList: Bool {
        if case .number(let column) = self { column.unlistedCount > Self.few } else { false }
    }

    private var cut: CutValues {
        switch self {
        case .text(let column): column.values.cut
        case .number(let column): column.cut
        }
    }

    private var cutVersion: UInt64 {
        switch self {
        case .text(let column): column.values.cutVersion
        case .number(let column): column.cutVersion
        }
    }

    func rowsWithValue(below end: Int) -> Bitset {
        switch self {
        case .text(let column): column.rowsWithValue(below: end)
        case .number(let column): column.rowsWithValue(below: end)
        }
    }
}

/// The values that the index derives from votes and comments.
///
/// They are kept by item id, also for ids that no item has: the ballots and comments of an item that was removed come
/// back with it.
package struct DerivedValues: Sendable {
    /// The field of the ranking value.
    static let score = "votes.score"
    /// The field of the number of ballots.
    static let count = "votes.count"
    /// The field of the number of comments.
    static let comments = "comments.count"

    package private(set) var tallies = SplitDictionary<String, Tally>()
    package private(set) var commentCounts = SplitDictionary<String, Int>()

    /// The derived fields.
    package static let names = [score, count, comments]

    /// An empty column for each of ``names``.
    static func columns() -> [IndexColumn] {
        [.number, .integer, .integer].map { IndexColumn(type: $0) }
    }

    /// Sets a tally; one without ballots is the same as none.
    mutating func setTally(_ tally: Tally?, for id: String) {
        tallies[id] = tally.flatMap { $0 == Tally() ? nil : $0 }
    }

    /// Sets an item's number of comments, 0 being the same as none; returns the number before.
    mutating func setCommentCount(_ count: Int, for id: String) -> Int {
        let before =
            count == 0
            ? commentCounts.removeValue(forKey: id)
            : commentCounts.updateValue(count, forKey: id)
        return before ?? 0
    }

    /// The values of an item, in the order of ``names``: the score only when there is one.
    func values(of id: String) -> (score: Double?, count: Double, comments: Double) {
        let tally = tallies.isEmpty ? nil : tallies[id]
        let comments = commentCounts.isEmpty ? 0 : commentCounts[id] ?? 0
        return (tally?.score, Double(tally?.count ?? 0), Double(comments))
    }
}
