/// The rows of a table as RFC 4180 has it, one after the other; the first names the columns.
struct CSVReader: ImportReader {
    private enum Place {
        case start
        case plain
        case quoted
        /// Behind a quote within quotes: the end, or the first of two that stand for one.
        case quote
        /// Behind what is wrong, up to the end of the line.
        case wrong
    }

    private let path: String
    private var source: TextSource
    private var text: CSVText
    private let layout: CSVLayout
    /// The names of the columns.
    private(set) var columns: [String] = []

    private var chunk: ArraySlice<UInt8> = []
    private var line = 1
    private var column = 0

    private var place = Place.start
    private var firstLine = 1
    private var cells: [String] = []
    private var cell: [UInt8] = []
    private var problem: ImportLineError?
    private var opened = (line: 1, column: 1)

    /// Reads the names of the columns.
    ///
    /// - Parameters:
    ///   - source: The text.
    ///   - sample: How it begins.
    ///   - path: The file's name, for messages.
    /// - Throws: ``CommandFailure`` for a first row that can't be read.
    init(_ source: TextSource, sample: ArraySlice<UInt8>, path: String) throws {
        self.source = source
        self.path = path
        text = CSVText()
        layout = CSVLayout(sample)
        if layout.isDeclared { _ = try row() }
        guard let header = try row() else { return }
        if let problem = header.problem {
            throw CommandFailure("\(path): line \(header.line): \(problem.reason)")
        }
        columns = header.cells
    }

    var size: Int? { source.size }
    var position: Int { source.position }
    /// Whether a comma may stand for the point in numbers: it is not what separates the cells.
    var allowsDecimalComma: Bool { layout.delimiter != UInt8(ascii: ",") }

    mutating func next() throws -> ImportPiece? {
        while let row = try row() {
            if let problem = row.problem {
                return ImportPiece(line: row.line, content: .bad(problem))
            }
            if row.cells.allSatisfy(\.isEmpty) { continue }
            guard row.cells.count == columns.count else {
                return ImportPiece(line: row.line, content: .bad(misfit(row.cells.count)))
            }
            return ImportPiece(line: row.line, content: .row(row.cells))
        }
        return nil
    }

    private func misfit(_ count: Int) -> ImportLineError {
        let hint =
            count > columns.count
            ? "a value with '\(layout.delimiterName)' in it stands in quotes"
            : "is a line break in a value that has no quotes?"
        return ImportLineError(
            reason: "\(Wording.count(count, "value")), where the first row names "
                + "\(Wording.count(columns.count, "column")): \(hint)")
    }

    private mutating func row() throws -> (line: Int, cells: [String], problem: ImportLineError?)? {
        cells = []
        problem = nil
        place = .start
        firstLine = line
        var isEmpty = true
        while true {
            if chunk.isEmpty {
                guard let more = try source.next() else { break }
                chunk = more[...]
            }
            guard let byte = chunk.popFirst() else { break }
            isEmpty = false
            if take(byte) { return (firstLine, cells, problem) }
        }
        guard !isEmpty else { return nil }
        if place == .quoted {
            refuse("a quote is opened here and never closed", at: opened)
        } else {
            endCell()
        }
        return (firstLine, cells, problem)
    }

    /// Takes a byte.
    ///
    /// - Returns: Whether it ends the row.
    private mutating func take(_ byte: UInt8) -> Bool {
        let isNewline = byte == layout.newline
        if isNewline {
            line += 1
            column = 0
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
        switch place {
        case .quoted:
            if byte == UInt8(ascii: "\"") { place = .quote } else { append(byte) }
            return false
        case .quote where byte == UInt8(ascii: "\""):
            append(byte)
            place = .quoted
            return false
        case .start where byte == UInt8(ascii: "\""):
            place = .quoted
            opened = (line, column)
            return false
        case .start, .plain, .quote, .wrong: break
        }
        if isNewline || byte == layout.delimiter {
            endCell()
            return isNewline
        }
        switch place {
        case .quote where byte != UInt8(ascii: "\r"):
            refuse(
                "text behind the closing quote; a quote within quotes is written twice",
                at: (line, column))
        case .start, .plain:
            place = .plain
            append(byte)
        case .quoted, .quote, .wrong: break
        }
        return false
    }

    private mutating func append(_ byte: UInt8) {
        guard cell.count < LineReader.longest else {
            return refuse(
                "a value of more than 16 MiB: a quote is not closed",
                at: place == .quoted ? opened : (line, column))
        }
        cell.append(byte)
    }

    private mutating func endCell() {
        if place == .plain, cell.last == UInt8(ascii: "\r") { cell.removeLast() }
        if place != .wrong {
            if let decoded = text.decode(cell) {
                cells.append(decoded)
            } else {
                refuse("text that is not UTF-8, which the lines before are", at: (line, column))
            }
            place = .start
        }
        cell.removeAll(keepingCapacity: true)
    }

    private mutating func refuse(_ reason: String, at position: (line: Int, column: Int)) {
        place = .wrong
        cell.removeAll(keepingCapacity: true)
        guard problem == nil else { return }
        let there = position.line == firstLine ? "" : "line \(position.line), "
        problem = ImportLineError(reason: "\(there)column \(position.column): \(reason)")
    }
}

/// The characters that a table is laid out with.
struct CSVLayout: Equatable {
    /// What ends a cell.
    private(set) var delimiter = UInt8(ascii: ",")
    /// What ends a row.
    private(set) var newline = UInt8(ascii: "\n")
    /// Whether the first line names the delimiter, as spreadsheets write it: `sep=;`.
    private(set) var isDeclared = false

    /// Finds them: the delimiter is the one that stands most often in the first line.
    init(_ sample: ArraySlice<UInt8>) {
        if !sample.contains(newline), sample.contains(UInt8(ascii: "\r")) {
            newline = UInt8(ascii: "\r")
        }
        let first = sample.prefix { $0 != newline && $0 != UInt8(ascii: "\r") }
        let known = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        if first.count == 5, first.starts(with: Array("sep=".utf8)), let last = first.last {
            delimiter = last
            isDeclared = true
            return
        }
        var counts = [0, 0, 0]
        var isQuoted = false
        for byte in sample {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted else { continue }
            if byte == newline { break }
            if let place = known.firstIndex(of: byte) { counts[place] += 1 }
        }
        let most = counts.max() ?? 0
        delimiter = counts.firstIndex(of: most).map { known[$0] } ?? delimiter
    }

    /// The delimiter, for messages.
    var delimiterName: String {
        delimiter == UInt8(ascii: "\t") ? "tab" : String(UnicodeScalar(delimiter))
    }
}

/// The text of cells: UTF-8, or Windows-1252 where the first that is not ASCII is not UTF-8.
struct CSVText {
    private enum Encoding {
        case open
        case utf8
        case windows1252
    }

    private var encoding = Encoding.open

    /// The text of a cell; nil where it is not in the encoding of those before.
    mutating func decode(_ bytes: [UInt8]) -> String? {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        switch encoding {
        case .utf8: return String(validating: bytes, as: UTF8.self)
        case .windows1252: return Self.windows1252(bytes)
        case .open:
            if let text = String(validating: bytes, as: UTF8.self) {
                encoding = .utf8
                return text
            }
            encoding = .windows1252
            return Self.windows1252(bytes)
        }
    }

    private static func windows1252(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            if (0x80..<0xA0).contains(byte) {
                text.append(upper[Int(byte) - 0x80])
            } else {
                text.append(UnicodeScalar(byte))
            }
        }
        return String(text)
    }

    /// What 0x80 to 0x9F stand for; five stand for nothing.
    private static let upper = Array(
        "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ".unicodeScalars)
}
