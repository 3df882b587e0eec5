/// The lines of a file, as bytes, one after the other.
struct LineReader {
    /// The bytes of a line that are kept; a longer line is cut, and refused as bad JSON.
    static let longest = 16 << 20

    private let path: String
    private let descriptor: Int32
    /// How many bytes the file has, where that is known.
    let size: Int?
    /// How many bytes were read.
    private(set) var position = 0
    private var chunk: ArraySlice<UInt8> = []

    /// Opens a file; `-` is standard input.
    init(_ path: String) throws {
        self.path = path
        (descriptor, size) = try InputFile.open(path)
    }

    /// The next line, without its end; nil at the end of the file.
    mutating func next() throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if chunk.isEmpty {
                guard let more = try InputFile.read(descriptor, path) else {
                    return line.isEmpty ? nil : line
                }
                chunk = more[...]
                position += more.count
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
