/// Writes values one by one into bytes, commas and escapes included, without whitespace.
///
/// ```swift
/// json.beginObject()
/// json.key("id")
/// json.string(id)
/// json.endObject()
/// ```
///
/// It trusts its caller with the order: what begins must end, each key is followed by one value.
public struct JSONWriter {
    /// The bytes that were written so far.
    public var bytes: [UInt8]

    private var needsComma = false

    /// Makes a writer.
    ///
    /// - Parameter bytes: The bytes to append to; empty by default. The first value is written without a comma before
    ///   it.
    public init(appendingTo bytes: [UInt8] = []) {
        self.bytes = bytes
        // Enough for most calls and replies: growing to it step by step costs more than writing it.
        if bytes.isEmpty { self.bytes.reserveCapacity(256) }
    }

    /// Begins an object.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }

    /// Ends the innermost object.
    public mutating func endObject() { end(UInt8(ascii: "}")) }

    /// Begins an array.
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }

    /// Ends the innermost array.
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Writes a member's name.
    ///
    /// - Parameter name: A literal of ASCII with nothing to escape in it.
    public mutating func key(_ name: StaticString) {
        guard name.hasPointerRepresentation, name.utf8CodeUnitCount <= Self.longestPiece else {
            return key(name.description)
        }
        writePiece(JSONBytes(name), isKey: true)
    }

    /// Writes a member's name, with escapes where they are needed.
    ///
    /// - Parameter name: The name.
    @_disfavoredOverload
    public mutating func key(_ name: String) { writeQuoted(name, isKey: true) }

    /// Writes a string, with escapes where they are needed.
    ///
    /// - Parameter value: The string.
    public mutating func string(_ value: String) {
        writeQuoted(value, isKey: false)
        needsComma = true
    }

    /// Writes an integer.
    ///
    /// - Parameter value: The integer.
    public mutating func int(_ value: Int) {
        writeComma()
        writeDigits(value)
        needsComma = true
    }

    /// Writes a number in the shortest form that reads back as the same one.
    ///
    /// - Parameter value: The number. Integral ones up to 2^53 are written without a fraction. An infinity and
    ///   not-a-number, which JSON does not have, are written as `null`.
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        if value.magnitude < 0x1p53, value == value.rounded(.towardZero),
            value != 0 || value.sign == .plus
        {
            return int(Int(value))
        }
        writeComma()
        bytes.append(contentsOf: value.description.utf8)
        needsComma = true
    }

    /// Writes `true` or `false`.
    ///
    /// - Parameter value: The value.
    public mutating func bool(_ value: Bool) {
        writeComma()
        bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
        needsComma = true
    }

    /// Writes `null`.
    public mutating func null() {
        writeComma()
        bytes.append(contentsOf: "null".utf8)
        needsComma = true
    }

    /// Writes one value that is JSON already.
    ///
    /// - Parameter value: Its bytes, which the caller has checked.
    public mutating func raw(_ value: [UInt8]) {
        writeComma()
        bytes.append(contentsOf: value)
        needsComma = true
    }

    /// Writes one value that is JSON already.
    ///
    /// - Parameter value: Its bytes, which the caller has checked.
    public mutating func raw(_ value: UnsafeRawBufferPointer) {
        writeComma()
        bytes.append(contentsOf: value)
        needsComma = true
    }

    private mutating func begin(_ bracket: UInt8) {
        writeComma()
        bytes.append(bracket)
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    /// Writes the comma that a value before calls for; whatever is written next needs none.
    private mutating func writeComma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    private mutating func writeDigits(_ value: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            var start = buffer.count
            var rest = value.magnitude
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                start -= 1
                buffer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest > 0
            if value < 0 {
                start -= 1
                buffer[start] = UInt8(ascii: "-")
            }
            bytes.append(contentsOf: buffer[start...])
        }
    }

    private mutating func writeQuoted(_ value: String, isKey: Bool) {
        let written: Void? = value.utf8.withContiguousStorageIfAvailable { text in
            writeQuoted(JSONBytes(UnsafeRawBufferPointer(text)), isKey: isKey)
        }
        if written == nil {
            Array(value.utf8).withUnsafeBytes { writeQuoted(JSONBytes($0), isKey: isKey) }
        }
    }

    private mutating func writeQuoted(_ text: JSONBytes, isKey: Bool) {
        let end = text.endOfUnescapedText(from: 0)
        if end == text.count, end <= Self.longestPiece { return writePiece(text, isKey: isKey) }
        writeComma()
        bytes.append(UInt8(ascii: "\""))
        writeEscaped(text, unescaped: end)
        bytes.append(UInt8(ascii: "\""))
        if isKey { bytes.append(UInt8(ascii: ":")) }
    }

    /// The maximum number of bytes of a text that is put together before it is appended.
    private static let longestPiece = 252

    /// Writes a text without escapes at once, with the characters around it: each append checks the capacity, and
    /// whether the memory is shared.
    @inline(__always)
    private mutating func writePiece(_ text: JSONBytes, isKey: Bool) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { piece in
            piece[0] = UInt8(ascii: ",")
            piece[1] = UInt8(ascii: "\"")
            UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(piece)[2...])
                .copyMemory(from: text.buffer)
            piece[text.count + 2] = UInt8(ascii: "\"")
            piece[text.count + 3] = UInt8(ascii: ":")
            let end = text.count + (isKey ? 4 : 3)
            bytes.append(
                contentsOf: UnsafeBufferPointer(rebasing: piece[(needsComma ? 0 : 1)..<end]))
        }
        needsComma = false
    }

    private mutating func writeEscaped(_ text: JSONBytes, unescaped first: Int) {
        var end = first
        bytes.append(contentsOf: text[0..<end].buffer)
        while end < text.count {
            writeEscape(text[end])
            let start = end + 1
            end = text.endOfUnescapedText(from: start)
            bytes.append(contentsOf: text[start..<end].buffer)
        }
    }

    private mutating func writeEscape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        default:
            bytes.append(contentsOf: byte < 0x10 ? "u000".utf8 : "u00".utf8)
            bytes.append(contentsOf: String(byte, radix: 16).utf8)
        }
    }
}
