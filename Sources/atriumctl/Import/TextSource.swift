import AtriumFormats

/// A file's text, a piece at a time.
///
/// What gzip packed is unpacked, UTF-16 becomes UTF-8, a byte order mark is taken off. Other bytes stay as they are. It
/// ends where somebody presses Ctrl-C while it waits for bytes (``Interruption``).
final class TextSource: TextChunks {
    private let path: String
    private let descriptor: Int32
    /// How many bytes the file has, where that is known.
    let size: Int?
    /// How many bytes of the file were read.
    private(set) var position = 0
    private var unpacking: Gunzip?
    private var wide: UTF16Text?
    private var ahead: [UInt8] = []
    private var isAtEnd = false

    /// Opens a file; `-` is standard input.
    init(_ path: String) throws {
        self.path = path
        (descriptor, size) = try InputFile.open(path)
        let head = try enough(of: [], 2, read)
        if Gunzip.isPacked(head) {
            unpacking = try Gunzip()
            unpacking?.add(head)
        } else {
            ahead = head
        }
        let text = try enough(of: ahead, 4, unpacked)
        ahead = []
        (wide, ahead) = UTF16Text.recognize(text)
    }

    /// The first bytes of the text, as many as were asked for where there are; they are read again by ``next()``.
    func sample(_ count: Int = 1 << 16) throws -> ArraySlice<UInt8> {
        while ahead.count < count, let more = try decoded() { ahead += more }
        return ahead.prefix(count)
    }

    /// The next piece; nil at the end.
    func next() throws -> [UInt8]? {
        guard ahead.isEmpty else {
            defer { ahead = [] }
            return ahead
        }
        return try decoded()
    }

    /// Reads on until there are so many bytes, or the end.
    private func enough(
        of bytes: [UInt8], _ count: Int, _ more: () throws -> [UInt8]?
    ) throws -> [UInt8] {
        var bytes = bytes
        while bytes.count < count, let next = try more() { bytes += next }
        return bytes
    }

    private func decoded() throws -> [UInt8]? {
        guard var wide else { return try unpacked() }
        defer { self.wide = wide }
        guard let more = try unpacked() else { return wide.finish() }
        return wide.decode(more[...])
    }

    private func unpacked() throws(CommandFailure) -> [UInt8]? {
        guard let unpacking else { return try read() }
        do throws(CommandFailure) {
            while true {
                if let piece = try unpacking.next() { return piece }
                guard let more = try read() else {
                    try unpacking.finish()
                    return nil
                }
                unpacking.add(more)
            }
        } catch {
            throw CommandFailure("\(path == "-" ? "standard input" : path): \(error.sentence)")
        }
    }

    private func read() throws(CommandFailure) -> [UInt8]? {
        guard !isAtEnd else { return nil }
        guard Interruption.waitsForInput(descriptor) else {
            isAtEnd = true
            return nil
        }
        guard let more = try InputFile.read(descriptor, path) else {
            isAtEnd = true
            return nil
        }
        position += more.count
        return more
    }
}

/// UTF-16 that becomes UTF-8.
struct UTF16Text {
    private let isBigEndian: Bool
    private var oddByte: UInt8?
    private var lead: UInt16?

    private init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// Recognises UTF-16 by its byte order mark or by zeros among the first bytes, and returns its decoder with the
    /// text so far; the mark of UTF-8 is removed.
    static func recognize(_ head: [UInt8]) -> (UTF16Text?, [UInt8]) {
        let marks: [(bytes: [UInt8], isBigEndian: Bool)] = [
            ([0xFF, 0xFE], false), ([0xFE, 0xFF], true),
        ]
        for mark in marks where head.starts(with: mark.bytes) {
            return decoded(head.dropFirst(2), isBigEndian: mark.isBigEndian)
        }
        if head.count >= 4 {
            let zeros = head.prefix(4).map { $0 == 0 }
            if zeros == [false, true, false, true] {
                return decoded(head[...], isBigEndian: false)
            }
            if zeros == [true, false, true, false] { return decoded(head[...], isBigEndian: true) }
        }
        var text = head
        PlainText.removeMark(from: &text)
        return (nil, text)
    }

    private static func decoded(
        _ bytes: ArraySlice<UInt8>, isBigEndian: Bool
    ) -> (UTF16Text?, [UInt8]) {
        var text = UTF16Text(isBigEndian: isBigEndian)
        let first = text.decode(bytes)
        return (text, first)
    }

    /// What bytes stand for; half a letter at the end waits for the other half.
    mutating func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2 + 2)
        if let lead { units.append(lead) }
        lead = nil
        var bytes = bytes
        while let second = bytes.popFirst() {
            guard let first = oddByte else {
                oddByte = second
                continue
            }
            oddByte = nil
            let (high, low) = isBigEndian ? (first, second) : (second, first)
            units.append(UInt16(high) << 8 | UInt16(low))
        }
        if let last = units.last, UTF16.isLeadSurrogate(last) { lead = units.removeLast() }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// What is left at the end; nil where that is nothing.
    mutating func finish() -> [UInt8]? {
        guard lead != nil || oddByte != nil else { return nil }
        (lead, oddByte) = (nil, nil)
        return Array("\u{FFFD}".utf8)
    }
}
