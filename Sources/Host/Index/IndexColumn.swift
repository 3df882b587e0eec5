import AtriumKit

/// One field's values, in the form that its type calls for.
enum IndexColumn {
    /// Texts, by code.
    case text(TextColumn)
    /// Numbers.
    case number(NumberColumn)

    /// An empty column for a field of this type.
    init(type: Field.FieldType) {
        switch type {
        case .number, .integer, .boolean, .duration, .time:
            self = .number(NumberColumn(type: type))
        case .text, .keywords: self = .text(TextColumn())
        // A type of a newer kit is at least listed and found by its texts.
        @unknown default: self = .text(TextColumn())
        }
    }

    /// Makes a row's value this one.
    func set(_ value: Value?, row: Int) {
        switch self {
        case .text(let column): column.set(value, row: row)
        case .number(let column): column.set(value, row: row)
        }
    }

    /// Grows with each distinct value that comes or goes.
    var version: UInt64 {
        switch self {
        case .text(let column): return column.values.version
        case .number(let column):
            column.startListing()
            return column.version
        }
    }

    /// The distinct values, sorted.
    var distinctValues: [Value] {
        switch self {
        case .text(let column): column.values.sortedTexts.map(Value.text)
        case .number(let column): column.sortedNumbers.map(column.value)
        }
    }

    /// The rows that have any value.
    func rowsWithValue(below end: Int) -> Bitset {
        switch self {
        case .text(let column): column.rowsWithValue(below: end)
        case .number(let column): column.rowsWithValue(below: end)
        }
    }
}

/// What the index derives from votes and comments.
///
/// It is kept by item id, also for ids that no item has: ballots and comments of an item that was
/// removed come back with it.
struct DerivedValues {
    /// The field of the ranking value.
    static let score = "votes.score"
    /// The field of the number of ballots.
    static let count = "votes.count"
    /// The field of the number of comments.
    static let comments = "comments.count"

    private(set) var tallies: [String: Tally] = [:]
    private(set) var commentCounts: [String: Int] = [:]

    private let scoreColumn = NumberColumn(type: .number)
    private let countColumn = NumberColumn(type: .integer)
    private let commentColumn = NumberColumn(type: .integer)

    /// The columns by field.
    var columns: [String: IndexColumn] {
        [
            DerivedValues.score: .number(scoreColumn), DerivedValues.count: .number(countColumn),
            DerivedValues.comments: .number(commentColumn),
        ]
    }

    /// No values for any row, and the same tallies and counts by id.
    func withEmptyColumns() -> DerivedValues {
        var derived = DerivedValues()
        derived.tallies = tallies
        derived.commentCounts = commentCounts
        return derived
    }

    /// Keeps a tally; one of no ballots is the same as none.
    mutating func setTally(_ tally: Tally?, for id: String) {
        tallies[id] = tally.flatMap { $0 == Tally() ? nil : $0 }
    }

    /// Keeps a number of comments; 0 is the same as none.
    mutating func setCommentCount(_ count: Int, for id: String) {
        commentCounts[id] = count == 0 ? nil : count
    }

    /// Makes a row's values those of this item; nil when the row holds none.
    func fill(row: Int, for id: String?) {
        let tally = id.flatMap { tallies[$0] }
        scoreColumn.set(tally?.score, row: row)
        countColumn.set(id.map { _ in Double(tally?.count ?? 0) }, row: row)
        commentColumn.set(id.map { Double(commentCounts[$0] ?? 0) }, row: row)
    }
}
