/// The lines of a text, as bytes, one after the other: JSON, a value each (NDJSON).
public struct LineReader: FormatReader {
    /// The bytes of a line, an element or a cell that are kept; what is longer is cut, and refused as bad.
    static let longest = 16 << 20

    private let text: any TextChunks
    private var chunk: ArraySlice<UInt8> = []
    private var line = 0

    /// Reads a text.
    public init(_ text: any TextChunks) { self.text = text }

    /// The next line, without its end; nil at the end of the text.
    public mutating func next() throws -> FormatPiece? {
        guard let bytes = try nextLine() else { return nil }
        line += 1
        return FormatPiece(line: line, content: .json(bytes))
    }

    private mutating func nextLine() throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if chunk.isEmpty {
                guard let more = try text.next() else { return line.isEmpty ? nil : line }
                chunk = more[...]
            }
            let end = chunk.firstIndex(of: UInt8(ascii: "\n"))
            let part = chunk[..<(end ?? chunk.endIndex)]
            line += part.prefix(max(0, Self.longest - line.count))
            guard let end else {
                chunk = []
                continue
            }
            chunk = chunk[(end + 1)...]
            return line
        }
    }
}
