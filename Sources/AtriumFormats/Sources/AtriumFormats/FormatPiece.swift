public import JSONCodec

/// The bytes of a text, a piece at a time.
public protocol TextChunks: AnyObject {
    /// The next piece; nil at the end.
    func next() throws -> [UInt8]?
}

/// What reads a text of many items, one after the other.
public protocol FormatReader {
    /// The next item; nil at the end.
    ///
    /// What is wrong with one item is returned in its place. Where nothing more can be read a ``FormatProblem`` is
    /// thrown; what the text's source throws is passed on.
    mutating func next() throws -> FormatPiece?
}

/// What stands for one item in a text.
public struct FormatPiece: Sendable, Equatable {
    /// What was read.
    public enum Content: Sendable, Equatable {
        /// A line, or an element of an array: JSON that nobody has judged yet, or only spaces.
        case json([UInt8])
        /// The cells of a row, one for each column of the table.
        case row([String])
        /// Something that is none, and why.
        case bad(FormatProblem)
    }

    /// The line that it begins in, from 1.
    public var line: Int
    /// The column that it begins in, from 1.
    public var column: Int
    /// What was read.
    public var content: Content

    /// Makes a piece.
    public init(line: Int, column: Int = 1, content: Content) {
        self.line = line
        self.column = column
        self.content = content
    }
}

/// What is wrong in a text, and where.
public struct FormatProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1; nil where it is no line's fault.
    public var line: Int?
    /// The column, from 1: letters, not bytes; nil where it is the whole line's fault.
    public var column: Int?
    /// What is wrong.
    public var reason: String
    /// What to do, in a sentence.
    public var hint: String?

    /// Makes a problem.
    public init(line: Int? = nil, column: Int? = nil, reason: String, hint: String? = nil) {
        self.line = line
        self.column = column
        self.reason = reason
        self.hint = hint
    }

    /// Says what is wrong with JSON that begins in a line and a column.
    public init(_ error: JSONError, in bytes: [UInt8], line: Int, column: Int) {
        let before = bytes.prefix(error.offset)
        let breaks = before.count { $0 == UInt8(ascii: "\n") }
        let letters = before.reversed().prefix { $0 != UInt8(ascii: "\n") }
            .count { $0 & 0xC0 != 0x80 }
        let path = error.path.isEmpty ? "" : "\(error.path): "
        self.init(
            line: line + breaks, column: breaks == 0 ? column + letters : letters + 1,
            reason: "\(path)expected \(error.expected), found \(error.found)")
    }

    /// Where, as in `line 3, column 7`; nil where that is unknown.
    public var place: String? {
        let parts = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Place, reason and hint.
    public var description: String {
        (place.map { "\($0): " } ?? "") + reason + (hint.map { "; \($0)" } ?? "")
    }
}
