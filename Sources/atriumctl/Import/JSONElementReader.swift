/// The elements of a JSON array, one after the other: that of the whole text, or the first array of objects in it.
struct JSONElementReader: ImportReader {
    private enum Place {
        case before
        case inside
        case behind
    }

    private let path: String
    private var source: TextSource
    private var chunk: ArraySlice<UInt8> = []
    private var place = Place.before
    /// Whether the array is all there is.
    private var isWhole = true
    private var line = 1
    private var column = 0

    init(_ source: TextSource, path: String) {
        self.source = source
        self.path = path
    }

    var size: Int? { source.size }
    var position: Int { source.position }

    mutating func next() throws -> ImportPiece? {
        if place == .before { try findArray() }
        guard place == .inside else { return nil }
        var scan = JSONScan()
        var element: [UInt8] = []
        var start = (line: line, column: column)
        while let byte = try nextByte() {
            if scan.depth == 0, !scan.isInString {
                if byte == UInt8(ascii: "]") {
                    place = .behind
                    try checkEnd()
                    return element.isEmpty ? nil : piece(element, start)
                }
                if byte == UInt8(ascii: ",") { return piece(element, start) }
                if element.isEmpty {
                    if JSONScan.isSpace(byte) { continue }
                    start = (line, column)
                }
            }
            scan.take(byte)
            // What is cut is refused as bad JSON.
            if element.count < LineReader.longest { element.append(byte) }
        }
        throw CommandFailure(
            "\(path): the array is not closed: the file is cut off in line \(start.line), or a quote or a "
                + "bracket is missing there")
    }

    private func piece(_ bytes: [UInt8], _ start: (line: Int, column: Int)) -> ImportPiece {
        ImportPiece(line: start.line, column: start.column, content: .json(bytes))
    }

    private mutating func findArray() throws {
        var scan = JSONScan()
        var isOpened = false
        while let byte = try nextByte() {
            if JSONScan.isSpace(byte) { continue }
            if !scan.isInString {
                if scan.depth == 0, byte == UInt8(ascii: "[") {
                    place = .inside
                    return
                }
                if isOpened, byte == UInt8(ascii: "{") {
                    putBack(byte)
                    (place, isWhole) = (.inside, false)
                    return
                }
                isOpened = byte == UInt8(ascii: "[")
            }
            scan.take(byte)
        }
        throw CommandFailure(
            "\(path) holds no array of items",
            hint:
                "meant is [{\"id\": \"a\", \"title\": \"A\"}, …], or an object with such an array in it."
        )
    }

    private mutating func checkEnd() throws {
        guard isWhole else { return }
        while let byte = try nextByte() {
            guard JSONScan.isSpace(byte) else {
                throw CommandFailure(
                    "\(path): line \(line), column \(column): the array ended before this",
                    hint:
                        "one array holds all items; or each item is a line of its own, without brackets around."
                )
            }
        }
    }

    private mutating func nextByte() throws -> UInt8? {
        while chunk.isEmpty {
            guard let more = try source.next() else { return nil }
            chunk = more[...]
        }
        guard let byte = chunk.popFirst() else { return nil }
        if byte == UInt8(ascii: "\n") {
            line += 1
            column = 0
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
        return byte
    }

    private mutating func putBack(_ byte: UInt8) {
        chunk = [byte] + chunk
        column -= 1
    }
}
