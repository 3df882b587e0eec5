import AtriumKit

/// Finds the values of a field that most rows have, step by step, while rows gain and lose values.
///
/// It is for fields with so many values that reading each takes too long for one turn of the loop. A value counts the
/// rows that it has when it is read. Once ``step()`` returns false, the column has the values that were found.
package final class ValueSearch {
    /// The maximum number of values that are read in one step.
    static let few = 1_024

    private let column: IndexColumn
    private let limit: Int
    private var texts: FirstElements<(code: Int, count: Int)>
    private var numbers: FirstElements<(number: Double, count: Int)>
    /// The numbers among those found: the rows of one lie apart.
    private var known: Set<Double> = []
    private var place = 0
    /// The end of the values to read; values that are added meanwhile are left for the next search.
    private var end: Int?

    /// Prepares the search for at most `limit` values.
    init(_ column: IndexColumn, atMost limit: Int) {
        self.column = column
        self.limit = limit
        texts = FirstElements(atMost: limit) { one, other in
            guard one.count == other.count, case .text(let column) = column else {
                return one.count > other.count
            }
            return column.values.compare(one.code, other.code) < 0
        }
        numbers = FirstElements(atMost: limit) { one, other in
            one.count == other.count ? one.number < other.number : one.count > other.count
        }
    }

    /// Reads a few values; returns false if all are found.
    package func step() -> Bool {
        switch column {
        case .text(let column):
            for code in next(of: column.values.end) where column.values.postings[code].count > 0 {
                _ = texts.insert((code, column.values.postings[code].count))
            }
            return place < end ?? 0 || finish(column)
        case .number(let column):
            if column.list(atMost: Self.few) { return true }
            guard column.valueCount > limit else { return false }
            let numbers = column.numbers
            for row in next(of: numbers.count) { insert(numbers[row], of: column) }
            return place < end ?? 0 || finish(column)
        }
    }

    /// Returns the next few places of `count`.
    private func next(of count: Int) -> Range<Int> {
        let last = end ?? count
        end = last
        let next = place..<min(place + Self.few, last)
        place = next.upperBound
        return next
    }

    private func insert(_ number: Double, of column: NumberColumn) {
        guard let count = column.count(of: number), !known.contains(number) else { return }
        let (isAmong, out) = numbers.insert((number, count))
        if isAmong { known.insert(number) }
        if let out { known.remove(out.number) }
    }

    private func finish(_ column: TextColumn) -> Bool {
        // What no row has any more may be forgotten, or stand for another text.
        let codes = texts.elements.map(\.code).filter { column.values.postings[$0].count > 0 }
            .sorted { column.values.compare($0, $1) < 0 }
        let version = column.values.cutVersion
        column.values.cut.store(
            codes.map { .text(column.values.text(of: $0)) }, atMost: limit, version: version)
        return false
    }

    private func finish(_ column: NumberColumn) -> Bool {
        let found = numbers.elements.map(\.number).filter { column.count(of: $0) != nil }.sorted()
        let version = column.cutVersion
        column.cut.store(found.map(column.value), atMost: limit, version: version)
        return false
    }
}
