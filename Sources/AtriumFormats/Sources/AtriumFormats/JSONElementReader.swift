/// The elements of a JSON array, one after the other: that of the whole text, or the first array of objects in it.
public struct JSONElementReader: FormatReader {
    private enum State {
        case before
        case inside
        case behind
    }

    private let text: any TextChunks
    private var chunk: ArraySlice<UInt8> = []
    private var state = State.before
    /// Whether the array is all there is.
    private var isWhole = true
    private var isBehindComma = false
    private var line = 1
    private var column = 0

    /// Reads a text.
    public init(_ text: any TextChunks) { self.text = text }

    /// The next element; nil at the end of the array.
    ///
    /// - Throws: ``FormatProblem`` where there is no array, or it is not closed, or anything but spaces follows one that
    ///   is the whole text; what the source throws.
    public mutating func next() throws -> FormatPiece? {
        if state == .before { try findArray() }
        guard state == .inside else { return nil }
        var scan = JSONScan()
        var element: [UInt8] = []
        var start = (line: line, column: column)
        while let byte = try nextByte() {
            if scan.depth == 0, !scan.isInString {
                if byte == UInt8(ascii: "]") {
                    if element.isEmpty, isBehindComma { throw missing("]") }
                    state = .behind
                    try checkEnd()
                    return element.isEmpty ? nil : piece(element, start)
                }
                if byte == UInt8(ascii: ",") {
                    if element.isEmpty { throw missing(",") }
                    isBehindComma = true
                    return piece(element, start)
                }
                if element.isEmpty {
                    if JSONScan.isSpace(byte) { continue }
                    start = (line, column)
                }
            }
            scan.consume(byte)
            // What is cut is refused as bad JSON.
            if element.count < LineReader.longest { element.append(byte) }
        }
        throw FormatProblem(
            line: start.line, column: start.column,
            reason:
                "the array is not closed: the file is cut off in line \(start.line), or a quote or a "
                + "bracket is missing there")
    }

    private func missing(_ end: String) -> FormatProblem {
        FormatProblem(
            line: line, column: column, reason: "expected an element of the array, found '\(end)'")
    }

    private func piece(_ bytes: [UInt8], _ start: (line: Int, column: Int)) -> FormatPiece {
        FormatPiece(line: start.line, column: start.column, content: .json(bytes))
    }

    private mutating func findArray() throws {
        var scan = JSONScan()
        var isOpened = false
        while let byte = try nextByte() {
            if JSONScan.isSpace(byte) { continue }
            if !scan.isInString {
                if scan.depth == 0, byte == UInt8(ascii: "[") {
                    state = .inside
                    return
                }
                if isOpened, byte == UInt8(ascii: "{") {
                    putBack(byte)
                    (state, isWhole) = (.inside, false)
                    return
                }
                isOpened = byte == UInt8(ascii: "[")
            }
            scan.consume(byte)
        }
        throw FormatProblem(
            reason: "there is no array of items",
            hint:
                "meant is [{\"id\": \"a\", \"title\": \"A\"}, …], or an object with such an array in it."
        )
    }

    private mutating func checkEnd() throws {
        guard isWhole else { return }
        while let byte = try nextByte() {
            guard JSONScan.isSpace(byte) else {
                throw FormatProblem(
                    line: line, column: column, reason: "the array ended before this",
                    hint:
                        "one array holds all items; or each item is a line of its own, without brackets around."
                )
            }
        }
    }

    private mutating func nextByte() throws -> UInt8? {
        while chunk.isEmpty {
            guard let more = try text.next() else { return nil }
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
