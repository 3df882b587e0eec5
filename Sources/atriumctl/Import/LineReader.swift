/// The lines of a text, as bytes, one after the other.
struct LineReader: ImportReader {
    /// The bytes of a line that are kept; a longer line is cut, and refused as bad JSON.
    static let longest = 16 << 20

    private var source: TextSource
    private var chunk: ArraySlice<UInt8> = []
    private var line = 0

    init(_ source: TextSource) { self.source = source }

    var size: Int? { source.size }
    var position: Int { source.position }

    mutating func next() throws -> ImportPiece? {
        guard let bytes = try nextLine() else { return nil }
        line += 1
        return ImportPiece(line: line, content: .json(bytes))
    }

    /// The next line, without its end; nil at the end of the text.
    private mutating func nextLine() throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if chunk.isEmpty {
                guard let more = try source.next() else { return line.isEmpty ? nil : line }
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
