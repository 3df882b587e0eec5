/// The characters that a table is laid out with.
public struct CSVLayout: Sendable, Equatable {
    /// What ends a cell.
    public var delimiter = UInt8(ascii: ",")
    /// What ends a row.
    public private(set) var newline = UInt8(ascii: "\n")
    /// Whether the first line names the delimiter, as spreadsheets write it: `sep=;`.
    public private(set) var isDeclared = false
    /// How many rows stand before the one that names the columns.
    public private(set) var titleRows = 0

    private static let mostTitleRows = 20

    /// Finds them by how the table begins: the delimiter is the one that stands most often in the first line.
    public init(_ sample: ArraySlice<UInt8>) {
        if !sample.contains(newline), sample.contains(UInt8(ascii: "\r")) {
            newline = UInt8(ascii: "\r")
        }
        let first = sample.prefix { $0 != newline && $0 != UInt8(ascii: "\r") }
        if first.count == 5, first.starts(with: Array("sep=".utf8)), let last = first.last {
            delimiter = last
            isDeclared = true
            return
        }
        var rows = CSVRows(sample, newline: newline)
        var header = rows.next() ?? CSVRows.Row()
        if header.most == 0, let behind = Self.behindTitle(&rows) {
            (header, titleRows) = behind
        }
        if header.most > 0, let place = header.counts.firstIndex(of: header.most) {
            delimiter = CSVRows.delimiters[place]
        }
    }

    /// The row that names the columns where a title stands before it: exports of lists have one, or a small table of
    /// their own, and an empty line behind.
    ///
    /// - Parameter rows: Those behind the first.
    /// - Returns: The row, and how many are before it.
    private static func behindTitle(_ rows: inout CSVRows) -> (row: CSVRows.Row, before: Int)? {
        var isBehindEmpty = false
        for before in 1...mostTitleRows {
            guard let row = rows.next() else { return nil }
            if isBehindEmpty, row.most > 0 { return (row, before) }
            isBehindEmpty = row.isEmpty
        }
        return nil
    }

    /// The delimiter, for messages.
    var delimiterName: String {
        delimiter == UInt8(ascii: "\t") ? "tab" : String(UnicodeScalar(delimiter))
    }
}

/// The first rows of a table, and how often what may separate their cells stands in each.
private struct CSVRows {
    /// What is known of a row.
    struct Row {
        /// How often each of ``CSVRows/delimiters`` stands in it outside of quotes.
        var counts = [0, 0, 0]
        var isEmpty = true

        /// How often the one stands there that stands most often.
        var most: Int { counts.max() ?? 0 }
    }

    static let delimiters = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]

    private var rest: ArraySlice<UInt8>
    private let newline: UInt8

    init(_ sample: ArraySlice<UInt8>, newline: UInt8) {
        rest = sample
        self.newline = newline
    }

    /// The next row; nil at the end.
    mutating func next() -> Row? {
        guard !rest.isEmpty else { return nil }
        var row = Row()
        var isQuoted = false
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == newline, !isQuoted { break }
            if byte != UInt8(ascii: "\r") { row.isEmpty = false }
            if !isQuoted, let place = Self.delimiters.firstIndex(of: byte) {
                row.counts[place] += 1
            }
        }
        return row
    }
}
