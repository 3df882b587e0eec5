/// The text between the quotes of a string, which was read and found well formed.
struct JSONText {
    /// The bytes, escapes and all.
    let bytes: JSONBytes

    /// Whether there are escapes among them.
    let isEscaped: Bool

    /// Whether the string holds nothing but ASCII; false where nobody looked.
    let isASCII: Bool

    /// The string, its escapes resolved.
    var string: String {
        withContent { String(checked: $0, isASCII: isASCII) }
    }

    /// Calls a closure with the UTF-8 of the string, its escapes resolved.
    @inline(__always)
    private func withContent<Result>(_ body: (JSONBytes) -> Result) -> Result {
        guard isEscaped else { return body(bytes) }
        return withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { buffer in
            let count = JSONEscapes.resolve(bytes, into: buffer)
            return body(JSONBytes(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
        }
    }
}

extension JSONText {
    /// The maximum number of combining marks in a row.
    ///
    /// To compare, hash or normalize a string, Unicode sorts them, which takes time by the square of their number: a
    /// megabyte of them would keep a processor busy for an hour. Text for people has a few; Unicode's stream-safe
    /// format allows 30. RFC 8259 lets a reader set such limits.
    static let marksInARow = 128

    /// Whether no more marks than that follow one another.
    ///
    /// A mark takes at least two bytes. So a longer run of them has a byte at a multiple of twice that number, and only
    /// the marks around these places are counted.
    var hasFewMarksInARow: Bool {
        let distance = 2 * JSONText.marksInARow
        guard !isASCII, bytes.count > distance else { return true }
        return withContent { content in
            let text = unsafe UTF8Span(
                unchecked: content.buffer.bindMemory(to: UInt8.self).span, isKnownASCII: false)
            var scalars = text.makeUnicodeScalarIterator()
            for place in stride(from: distance, to: text.count, by: distance) {
                scalars.reset(roundingBackwardsFrom: place)
                var run = 0
                while run <= JSONText.marksInARow, let scalar = scalars.next(),
                    JSONText.isMark(scalar)
                {
                    run += 1
                }
                guard run > 0 else { continue }
                scalars.reset(roundingBackwardsFrom: place)
                while run <= JSONText.marksInARow, let scalar = scalars.previous(),
                    JSONText.isMark(scalar)
                {
                    run += 1
                }
                if run > JSONText.marksInARow { return false }
            }
            return true
        }
    }

    /// Whether normalizing sorts it: also three that are none, and decompose to marks alone.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x300, 0x34F: false
        // Nearly all that people write are in this block.
        case 0x300...0x36F: true
        case 0xF73, 0xF75, 0xF81: true
        default: scalar.properties.canonicalCombiningClass != .notReordered
        }
    }
}

extension String {
    /// Makes a string of bytes that were checked to be UTF-8 before: they are not checked again.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - isASCII: Whether it contains only ASCII; false if that is not known.
    @inline(__always)
    init(checked bytes: JSONBytes, isASCII: Bool) {
        let text = unsafe UTF8Span(
            unchecked: bytes.buffer.bindMemory(to: UInt8.self).span, isKnownASCII: isASCII)
        self.init(copying: text)
    }
}
