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
///
/// It owns its memory and can't be copied. So a write does not check whether the memory has another owner, as each
/// append to an array does.
public struct JSONWriter: ~Copyable {
    /// The memory; what was written is at its beginning.
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// The number of bytes that were written so far.
    public private(set) var count = 0

    private var needsComma = false

    /// Makes a writer; nothing is allocated before the first write.
    public init() {}

    deinit { memory.deallocate() }

    /// A copy of the bytes that were written so far.
    public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    /// The size of the memory, in bytes.
    public var capacity: Int { memory.count }

    /// Lends the bytes that were written so far.
    ///
    /// - Parameter body: What reads them; they are valid only until it returns.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Makes room for so many bytes more, where their number is known before they are written.
    ///
    /// - Parameter bytes: The number of bytes.
    public mutating func reserve(_ bytes: Int) { _ = room(for: bytes) }

    /// Drops what was written, and keeps the memory for what is written next.
    public mutating func removeAll() {
        count = 0
        needsComma = false
    }

    /// Drops what was written after the first bytes, such as a member that turned out to be empty.
    ///
    /// What is written next has no comma before it: after a value that is kept, only the end of its object or array may
    /// follow.
    ///
    /// - Parameter count: The number of bytes to keep.
    public mutating func truncate(to count: Int) {
        self.count = min(count, self.count)
        needsComma = false
    }

    /// Ends a message with a NUL.
    public mutating func endMessage() {
        put(0)
        needsComma = false
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
        guard name.hasPointerRepresentation else { return key(name.description) }
        writePlain(JSONBytes(name), isKey: true)
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
    /// - Parameter value: The number. Integral ones below 2^53 are written without a fraction. An infinity and
    ///   not-a-number, which JSON does not have, are written as `null`.
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        if value.magnitude < 0x1p53, value == value.rounded(.towardZero),
            value != 0 || value.sign == .plus
        {
            return int(Int(value))
        }
        write(value.description)
    }

    /// Writes `true` or `false`.
    ///
    /// - Parameter value: The value.
    public mutating func bool(_ value: Bool) { write(value ? "true" : "false") }

    /// Writes `null`.
    public mutating func null() { write("null") }

    /// Writes one value that is JSON already.
    ///
    /// - Parameter value: Its bytes, which the caller has checked.
    public mutating func raw(_ value: [UInt8]) {
        value.withUnsafeBytes { raw($0) }
    }

    /// Writes one value that is JSON already.
    ///
    /// - Parameter value: Its bytes, which the caller has checked.
    public mutating func raw(_ value: UnsafeRawBufferPointer) {
        writeComma()
        append(JSONBytes(value))
        needsComma = true
    }

    private mutating func begin(_ bracket: UInt8) {
        writeComma()
        put(bracket)
    }

    private mutating func end(_ bracket: UInt8) {
        put(bracket)
        needsComma = true
    }

    /// Writes a word or a number.
    private mutating func write(_ word: String) {
        var word = word
        word.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
    }

    /// Writes the comma that a value before calls for; whatever is written next needs none.
    @inline(__always)
    private mutating func writeComma() {
        if needsComma { put(UInt8(ascii: ",")) }
        needsComma = false
    }

    @inline(__always)
    private mutating func writeDigits(_ value: Int) {
        // The longest number has 19 digits and a sign.
        let start = room(for: 20)
        var length = value < 0 ? 1 : 0
        var rest = value.magnitude
        repeat {
            length &+= 1
            rest /= 10
        } while rest > 0
        rest = value.magnitude
        var place = length
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            place &-= 1
            start.storeBytes(
                of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit), toByteOffset: place,
                as: UInt8.self)
            rest = quotient
        } while rest > 0
        if value < 0 { start.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self) }
        count &+= length
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
        if end == text.count { return writePlain(text, isKey: isKey) }
        writeComma()
        put(UInt8(ascii: "\""))
        writeEscaped(text, unescaped: end)
        put(UInt8(ascii: "\""))
        if isKey { put(UInt8(ascii: ":")) }
    }

    /// Writes a text without escapes, with the characters around it.
    @inline(__always)
    private mutating func writePlain(_ text: JSONBytes, isKey: Bool) {
        let start = room(for: text.count &+ 4)
        var place = 0
        func add(_ byte: UInt8) {
            start.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
            place &+= 1
        }
        if needsComma { add(UInt8(ascii: ",")) }
        add(UInt8(ascii: "\""))
        (start + place).copyMemory(from: text.start, byteCount: text.count)
        place &+= text.count
        add(UInt8(ascii: "\""))
        if isKey { add(UInt8(ascii: ":")) }
        count &+= place
        needsComma = false
    }

    private mutating func writeEscaped(_ text: JSONBytes, unescaped first: Int) {
        var end = first
        append(text[0..<end])
        while end < text.count {
            writeEscape(text[end])
            let start = end + 1
            end = text.endOfUnescapedText(from: start)
            append(text[start..<end])
        }
    }

    private mutating func writeEscape(_ byte: UInt8) {
        put(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: put(UInt8(ascii: "n"))
        case 0x0D: put(UInt8(ascii: "r"))
        case 0x09: put(UInt8(ascii: "t"))
        case 0x08: put(UInt8(ascii: "b"))
        case 0x0C: put(UInt8(ascii: "f"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): put(byte)
        default:
            append(JSONBytes(byte < 0x10 ? "u000" : "u00"))
            for digit in String(byte, radix: 16).utf8 { put(digit) }
        }
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        room(for: 1).storeBytes(of: byte, as: UInt8.self)
        count &+= 1
    }

    @inline(__always)
    private mutating func append(_ bytes: JSONBytes) {
        room(for: bytes.count).copyMemory(from: bytes.start, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// The place of the next byte, with room for so many.
    @inline(__always)
    private mutating func room(for bytes: Int) -> UnsafeMutableRawPointer {
        // One byte more than is needed, so that there always is memory.
        if memory.count &- count <= bytes { grow(by: bytes) }
        return memory.baseAddress.unsafelyUnwrapped + count
    }

    @inline(never)
    private mutating func grow(by bytes: Int) {
        // Enough for most calls and replies.
        let size = max(256, memory.count * 2, count + bytes + 1)
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}
