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
        guard isEscaped else { return String(checked: bytes, isASCII: isASCII) }
        return withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { buffer in
            let count = JSONEscapes.resolve(bytes, into: buffer)
            let content = JSONBytes(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return String(checked: content, isASCII: isASCII)
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
    var hasFewMarksInARow: Bool {
        // A mark takes two bytes at least.
        guard !isASCII, bytes.count > 2 * JSONText.marksInARow else { return true }
        var run = 0
        for scalar in string.unicodeScalars {
            run = JSONText.isMark(scalar) ? run + 1 : 0
            if run > JSONText.marksInARow { return false }
        }
        return true
    }

    /// Whether normalizing sorts it: also three that are none, and decompose to marks alone.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x300: false
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
