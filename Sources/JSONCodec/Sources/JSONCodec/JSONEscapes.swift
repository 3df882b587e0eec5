/// The escapes within strings: `\n`, `\"`, `\u00e9`.
enum JSONEscapes {
    /// Writes a string's UTF-8 with its escapes resolved; an invalid escape is left out.
    ///
    /// - Parameters:
    ///   - bytes: The bytes between the quotes, which were found well formed before.
    ///   - result: The destination; it must hold as many bytes, since escapes only shrink.
    /// - Returns: The number of bytes that were written.
    static func resolve(
        _ bytes: JSONBytes, into result: UnsafeMutableRawBufferPointer
    ) -> Int {
        var position = 0
        var written = 0
        while position < bytes.count {
            let end = bytes.endOfUnescapedText(from: position)
            copy(bytes[position..<end], into: result, at: &written)
            position = end + 1
            guard position < bytes.count else { break }
            if bytes[position] == UInt8(ascii: "u") {
                position += 1
                guard let (scalar, length) = scalar(in: bytes, at: position) else { continue }
                for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    result[written] = unit
                    written += 1
                }
                position += length
            } else {
                if let single = single(bytes[position]) {
                    result[written] = single
                    written += 1
                }
                position += 1
            }
        }
        return written
    }

    /// Returns a string's UTF-8 with its escapes resolved, in memory of its own.
    static func resolve(_ bytes: JSONBytes) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
            count = resolve(bytes, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Whether two strings are the same once their escapes are resolved; allocates nothing.
    static func areSame(_ left: JSONBytes, _ right: JSONBytes) -> Bool {
        var (left, right) = (ResolvedBytes(left), ResolvedBytes(right))
        while let byte = left.next() {
            guard right.next() == byte else { return false }
        }
        return right.next() == nil
    }

    private static func copy(
        _ bytes: JSONBytes, into result: UnsafeMutableRawBufferPointer,
        at position: inout Int
    ) {
        let target = UnsafeMutableRawBufferPointer(rebasing: result[position...])
        target.copyMemory(from: bytes.buffer)
        position += bytes.count
    }

    /// Returns the character that a backslash and this byte stand for; nil: they are no escape.
    static func single(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        default: nil
        }
    }

    /// The scalar whose hexadecimal digits begin at `position`, just behind `\u`.
    ///
    /// Its length is the number of bytes it takes: 4, or 10 for a pair of surrogates. Nil for bad digits
    /// and lone surrogates.
    static func scalar(
        in bytes: JSONBytes, at position: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard let first = unit(in: bytes, at: position) else { return nil }
        guard (0xD800..<0xDC00).contains(first) else {
            return Unicode.Scalar(first).map { ($0, 4) }
        }
        guard position + 6 <= bytes.count, bytes[position + 4] == UInt8(ascii: "\\"),
            bytes[position + 5] == UInt8(ascii: "u"),
            let second = unit(in: bytes, at: position + 6), (0xDC00..<0xE000).contains(second)
        else { return nil }
        let value = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        return Unicode.Scalar(value).map { ($0, 10) }
    }

    /// The four hexadecimal digits at `position`; nil where there are others.
    static func unit(in bytes: JSONBytes, at position: Int) -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for index in position..<position + 4 {
            guard let digit = hexadecimal(bytes[index]) else { return nil }
            value = value << 4 | digit
        }
        return value
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

/// The bytes of a string's UTF-8 with its escapes resolved, one after the other.
struct ResolvedBytes: IteratorProtocol {
    private let bytes: JSONBytes
    private var position = 0
    /// The rest of a character that was written as an escape.
    private var rest: UTF8.EncodedScalar.Iterator?

    /// - Parameter bytes: The bytes between the quotes, which were found well formed before.
    init(_ bytes: JSONBytes) { self.bytes = bytes }

    mutating func next() -> UInt8? {
        if let byte = rest?.next() { return byte }
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            guard byte == UInt8(ascii: "\\"), position < bytes.count else { return byte }
            let kind = bytes[position]
            position += 1
            guard kind == UInt8(ascii: "u") else {
                if let single = JSONEscapes.single(kind) { return single }
                continue
            }
            guard let (scalar, length) = JSONEscapes.scalar(in: bytes, at: position) else {
                continue
            }
            position += length
            rest = (UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter).makeIterator()
            if let byte = rest?.next() { return byte }
        }
        return nil
    }
}
