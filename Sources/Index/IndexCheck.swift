package import AtriumKit

/// Checks that an index's derived structures agree with its items: its sorted orders, and the rows of each text, from
/// which counts are computed.
///
/// Each step checks a small part, as of one moment. A part that changes between steps is correct after the change, or
/// was wrong before it.
package final class IndexCheck {
    private static let rows = 512
    private static let codes = 128
    /// The number of rows of one text that are checked in a step.
    private static let span = 2_048

    /// The disagreements: each with its column and a description.
    package private(set) var problems: [(column: String, detail: String)] = []
    private let index: ContentIndex
    private var orders: ArraySlice<Int>
    private var place = 0
    private var column = 0
    private var code = 0
    private var row = 0

    package init(_ index: ContentIndex) {
        self.index = index
        orders = index.orders.numbers[...]
    }

    /// Checks a little more; false: nothing is left.
    package func step() -> Bool {
        if let order = orders.first {
            if !stepOrder(order) {
                orders.removeFirst()
                place = 0
            }
            return true
        }
        guard column < index.columns.numbered.count else { return false }
        if case .text(let texts) = index.columns.numbered[column], stepTexts(texts) { return true }
        (column, code, row) = (column + 1, 0, 0)
        return true
    }

    /// Whether there is more of the order.
    private func stepOrder(_ number: Int) -> Bool {
        // One that is being made holds some of the rows.
        guard let order = index.orders.finished(number) else { return false }
        if place == 0, order.count != index.count {
            report(number, "the order by \(name(of: number)) is not of all items")
            return false
        }
        let end = min(place + Self.rows, order.count)
        guard place < end else { return false }
        let rows = order.rows(max(place - 1, 0)..<end)
        place = end
        for (one, other) in zip(rows, rows.dropFirst())
        where !order.isBefore(Int(one), Int(other)) || !index.table.occupied.contains(Int(other)) {
            report(number, "the order by \(name(of: number)) is wrong")
            return false
        }
        return place < order.count
    }

    /// Whether there are more texts in the column.
    private func stepTexts(_ texts: TextColumn) -> Bool {
        var looked = 0
        while code < texts.values.end, looked < Self.codes {
            let postings = texts.values.postings[code]
            var isRight = true
            let isLong = postings.count > Self.codes
            let end = row + Self.span
            postings.visit(in: isLong ? row..<end : 0..<index.table.end) { row in
                var has = false
                texts.visitCodes(of: row) { has = has || $0 == code }
                isRight = isRight && has
            }
            if !isRight {
                report(column, "the counts of \(name(of: column)) are wrong")
                return false
            }
            looked += 1
            if isLong, end < index.table.end {
                row = end
                return true
            }
            (row, code) = (0, code + 1)
        }
        return code < texts.values.end
    }

    private func report(_ column: Int, _ detail: String) {
        problems.append((name(of: column), detail))
    }

    private func name(of number: Int) -> String {
        index.columns.names.first { $0.column == number }?.name ?? "id"
    }
}

extension IndexCheck {
    /// Whether the columns of an item agree with these fields and with its votes and comments.
    package static func isIndexed(
        _ id: String, _ fields: [String: Value], in index: ContentIndex
    ) -> Bool {
        guard let row = index.table.row(of: id) else { return false }
        let columns = index.columns
        for date in columns.dates {
            let expected = columns.date(date, of: fields[columns.fields[date.source].name])
            guard holds(expected, columns.numbered[date.column], row) else { return false }
        }
        for (name, column) in columns.stored {
            switch columns.numbered[column] {
            case .number(let numbers):
                let expected = fields[name].flatMap(numbers.number)
                guard holds(expected, .number(numbers), row) else { return false }
            case .text(let texts):
                guard texts.has(fields[name], row: row) else { return false }
            }
        }
        let values = index.derived.values(of: id)
        return zip(columns.derived, [values.score, values.count, values.comments])
            .allSatisfy { column, value in holds(value, column, row) }
    }

    /// Whether a row has this number in a column, and is found under it.
    private static func holds(_ number: Double?, _ column: IndexColumn, _ row: Int) -> Bool {
        guard case .number(let numbers) = column else { return false }
        return NumberColumn.isSame(numbers.number(of: row), number) && numbers.lists(row)
    }
}

extension TextColumn {
    /// Whether a row has these texts, each once, and is found under each.
    fileprivate func has(_ value: Value?, row: Int) -> Bool {
        let texts: [String] =
            switch value {
            case .text(let text): [text]
            case .list(let list): list.compactMap(\.text)
            default: []
            }
        let codes = codes(of: row)
        var expected: [Int] = []
        for text in texts {
            guard let code = values.code(of: text) else { return false }
            if !expected.contains(code) { expected.append(code) }
        }
        return codes.map(Int.init) == expected
            && codes.allSatisfy { values.postings[Int($0)].contains(row) }
    }
}
