/// What stands between the quotes of a string: read, and found well formed.
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

extension String {
    /// Makes a string of bytes that were found to be UTF-8 before: they are not looked at again.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - isASCII: Whether there is nothing but ASCII in it; false where that is not known.
    @inline(__always)
    init(checked bytes: JSONBytes, isASCII: Bool) {
        let text = unsafe UTF8Span(
            unchecked: bytes.buffer.bindMemory(to: UInt8.self).span, isKnownASCII: isASCII)
        self.init(copying: text)
    }
}
