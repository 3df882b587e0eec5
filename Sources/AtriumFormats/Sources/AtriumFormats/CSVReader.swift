/// The rows of a table as RFC 4180 has it, one after the other; the first names the columns.
public struct CSVReader: FormatReader {
    private enum State {
        case start
        case plain
        case quoted
        /// Behind a quote within quotes: the end, or the first of two that stand for one.
        case quote
        /// Behind what is wrong, up to the end of the line.
        case wrong
    }

    /// The names of the columns.
    public private(set) var columns: [String] = []
    /// The places of the columns in which a value stood as `="007"` so far: exports mark what is no number so.
    public private(set) var textColumns: Set<Int> = []

    private let source: any TextChunks
    private var text: CSVText
    private let layout: CSVLayout

    private var chunk: ArraySlice<UInt8> = []
    private var line = 1
    private var column = 0

    private var state = State.start
    private var firstLine = 1
    private var cells: [String] = []
    private var cell: [UInt8] = []
    private var problem: FormatProblem?
    /// Where the cell begins.
    private var start = (line: 1, column: 1)

    /// Reads the names of the columns; throws for a first row that can't be read.
    public init(_ source: any TextChunks, layout: CSVLayout) throws {
        self.source = source
        text = CSVText()
        self.layout = layout
        if layout.isDeclared { _ = try row() }
        for _ in 0..<layout.titleRows { _ = try row() }
        guard let header = try row() else { return }
        if let problem = header.problem { throw problem }
        columns = header.cells
    }

    /// Whether a comma may stand for the point in numbers: it is not what separates the cells.
    public var allowsDecimalComma: Bool { layout.delimiter != UInt8(ascii: ",") }

    /// The next row that is not empty; nil at the end.
    public mutating func next() throws -> FormatPiece? {
        while let row = try row() {
            if let problem = row.problem {
                return FormatPiece(line: row.line, content: .bad(problem))
            }
            if row.cells.allSatisfy(\.isEmpty) { continue }
            guard row.cells.count == columns.count else {
                return FormatPiece(
                    line: row.line, content: .bad(misfit(row.cells.count, line: row.line)))
            }
            return FormatPiece(line: row.line, content: .row(row.cells))
        }
        return nil
    }

    private func misfit(_ count: Int, line: Int) -> FormatProblem {
        let hint =
            count > columns.count
            ? "a value with '\(layout.delimiterName)' in it stands in quotes"
            : "is a line break in a value that has no quotes?"
        let values = count == 1 ? "1 value" : "\(count) values"
        let names = columns.count == 1 ? "1 column" : "\(columns.count) columns"
        return FormatProblem(
            line: line, reason: "\(values), where the first row names \(names): \(hint)")
    }

    private mutating func row() throws -> (line: Int, cells: [String], problem: FormatProblem?)? {
        cells = []
        problem = nil
        state = .start
        firstLine = line
        var isEmpty = true
        while true {
            if chunk.isEmpty {
                guard let more = try source.next() else { break }
                chunk = more[...]
            }
            guard let byte = chunk.popFirst() else { break }
            isEmpty = false
            if consume(byte) { return (firstLine, cells, problem) }
        }
        guard !isEmpty else { return nil }
        if state == .quoted {
            refuse("a quote is opened here and never closed", at: start)
        } else {
            endCell()
        }
        return (firstLine, cells, problem)
    }

    /// Consumes a byte; returns whether it ends the row.
    private mutating func consume(_ byte: UInt8) -> Bool {
        let isNewline = byte == layout.newline
        if isNewline {
            line += 1
            column = 0
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
        if state == .start { start = (line, column) }
        switch state {
        case .quoted:
            if byte == UInt8(ascii: "\"") { state = .quote } else { append(byte) }
            return false
        case .quote where byte == UInt8(ascii: "\""):
            append(byte)
            state = .quoted
            return false
        case .start where byte == UInt8(ascii: "\""):
            state = .quoted
            return false
        case .start, .plain, .quote, .wrong: break
        }
        if isNewline || byte == layout.delimiter {
            endCell()
            return isNewline
        }
        switch state {
        case .quote where byte != UInt8(ascii: "\r"):
            refuse(
                "text behind the closing quote; a quote within quotes is written twice",
                at: (line, column))
        case .start, .plain:
            state = .plain
            append(byte)
        case .quoted, .quote, .wrong: break
        }
        return false
    }

    private mutating func append(_ byte: UInt8) {
        guard cell.count < LineReader.longest else {
            return refuse(
                "a value of more than 16 MiB: a quote is not closed",
                at: state == .quoted ? start : (line, column))
        }
        cell.append(byte)
    }

    private mutating func endCell() {
        if state == .plain, cell.last == UInt8(ascii: "\r") { cell.removeLast() }
        if state != .wrong {
            if let decoded = text.decode(cell) {
                let value = Self.unwrapped(decoded)
                if value.utf8.count < decoded.utf8.count, cells.count < columns.count {
                    textColumns.insert(cells.count)
                }
                cells.append(value)
            } else {
                refuse("text that is not UTF-8, which the lines before are", at: start)
            }
            state = .start
        }
        cell.removeAll(keepingCapacity: true)
    }

    /// What stands in `="007"`: so exports keep spreadsheets from taking a code for a number; see ``textColumns``.
    private static func unwrapped(_ text: String) -> String {
        guard text.utf8.count > 2, text.hasPrefix("=\""), text.hasSuffix("\"") else { return text }
        let inner = text.dropFirst(2).dropLast()
        return inner.contains("\"") ? text : String(inner)
    }

    private mutating func refuse(_ reason: String, at position: (line: Int, column: Int)) {
        state = .wrong
        cell.removeAll(keepingCapacity: true)
        guard problem == nil else { return }
        problem = FormatProblem(line: position.line, column: position.column, reason: reason)
    }
}
